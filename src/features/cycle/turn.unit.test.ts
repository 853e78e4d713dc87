import { describe, expect, test } from 'vitest';
import { Refusal } from '../../kernel/reply.ts';
import { type CycleMachine, GEMINI_AND_CODEX } from './machine.ts';
import { type JudgedCycle, judgeAcquire, judgeArchive, judgeCompletion, judgeHandoff, type TurnHandoff } from './turn.ts';

const TOKEN = 'a'.repeat(48);
const CYCLE: JudgedCycle = {
  workspace_id: 'ws_default',
  repository: '/r',
  cycle_id: '20260220T215622Z_x',
  feature: 'x',
  phase: 'frontend',
  active_role: 'gemini',
  lock_role: 'gemini',
  lock_token: TOKEN,
  machine: GEMINI_AND_CODEX,
};
const payload = {
  cycle_id: CYCLE.cycle_id,
  feature: 'x',
  producer: 'gemini',
  consumer: 'codex',
  files_modified: [],
  endpoints: [],
  data_shapes: [],
  assumptions: [],
  todos: [],
  notes: [],
};

function refusal(call: () => unknown): { code: string; message: string; next: string; details: Record<string, unknown> } {
  try {
    call();
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, message: error.message, next: error.next, details: error.details };
    throw error;
  }
  throw new Error('it was allowed');
}

describe('handoff.write checks in the order of the contract', () => {
  /** In this machine two roles can hand over to codex. A role can then be a producer for codex without being the active role. */
  const three: CycleMachine = {
    roles: ['gemini', 'codex', 'helper'],
    phases: [...GEMINI_AND_CODEX.phases, { name: 'help', role: 'helper' }],
    transitions: [...GEMINI_AND_CODEX.transitions, { from: 'backend', target: 'helper', to: 'help' }, { from: 'help', target: 'codex', to: 'backend' }],
    final: 'complete',
  };
  interface Call {
    cycle: JudgedCycle | undefined;
    role: string;
    input: TurnHandoff;
  }
  const right: Call = { cycle: { ...CYCLE, machine: three }, role: 'gemini', input: { target: 'codex', payload, lock_token: TOKEN, secrets: [] } };
  const input = (more: Partial<TurnHandoff>) => (call: Call) => ({ ...call, input: { ...call.input, ...more } });
  const cycle = (more: Partial<JudgedCycle>) => (call: Call) => ({ ...call, cycle: call.cycle && { ...call.cycle, ...more } });

  /** Each entry changes a valid call so that exactly one check fails. Entries can be combined. */
  const CHECKS: { check: string; broken: (call: Call) => Call; expected: object }[] = [
    { check: 'cycle', broken: (call) => ({ ...call, cycle: undefined }), expected: { code: 'NO_ACTIVE_CYCLE' } },
    { check: 'target', broken: input({ target: 'claude' }), expected: { code: 'INVALID_TARGET' } },
    { check: 'phase', broken: cycle({ phase: 'backend' }), expected: { code: 'INVALID_PHASE', details: { phase: 'backend' } } },
    { check: 'producer', broken: (call) => ({ ...call, role: 'codex' }), expected: { code: 'LOCK_DENIED', message: 'codex does not hand over to codex' } },
    { check: 'active role', broken: cycle({ active_role: 'helper' }), expected: { code: 'LOCK_DENIED', message: 'role is not active for the current phase' } },
    { check: 'lock role', broken: cycle({ lock_role: 'codex' }), expected: { code: 'LOCK_DENIED', message: 'the lock is not held by the active role' } },
    { check: 'lock token', broken: input({ lock_token: 'b'.repeat(48) }), expected: { code: 'LOCK_DENIED', message: 'the lock token is not the current one' } },
    { check: 'payload', broken: input({ payload: {} }), expected: { code: 'INVALID_INPUT' } },
  ];
  const judged = ({ cycle, role, input }: Call) => judgeHandoff(cycle, '/r', role, input);

  test('a valid call leads to backend', () => {
    expect(judged(right)).toEqual({ to: { name: 'backend', role: 'codex' }, payload });
  });

  test.each(CHECKS)('$check', ({ broken, expected }) => {
    expect(refusal(() => judged(broken(right)))).toMatchObject(expected);
  });

  test.each(
    CHECKS.slice(1).map((later, index) => {
      const earlier = CHECKS[index] as (typeof CHECKS)[number];
      return { title: `${earlier.check} before ${later.check}`, earlier, later };
    }),
  )('$title', ({ earlier, later }) => {
    expect(refusal(() => judged(later.broken(earlier.broken(right))))).toMatchObject(earlier.expected);
  });
});

test('a refusal names the active role and the next step', () => {
  const waiting = refusal(() => judgeAcquire({ ...CYCLE, phase: 'backend', active_role: 'codex', lock_role: 'codex' }, '/r', 'gemini'));
  expect(waiting).toEqual({
    code: 'LOCK_DENIED',
    message: 'role is not active for the current phase',
    next: 'It is the turn of codex. Call cycle.status until `active_role` is gemini, then call lock.acquire with your `session_token`.',
    details: { activeRole: 'codex', requestedRole: 'gemini' },
  });
  const stale = refusal(() => judgeCompletion({ ...CYCLE, phase: 'frontend_refine' }, '/r', 'gemini', 'old'));
  expect(stale).toMatchObject({ details: { activeRole: 'gemini', requestedRole: 'gemini' } });
  expect(stale.next).toBe('Call lock.acquire with your `session_token` of gemini, then repeat the call with the `lock_token` that it returns.');
  expect(refusal(() => judgeHandoff(CYCLE, '/r', 'gemini', { target: 'gemini', payload, lock_token: TOKEN, secrets: [] })).next).toBe(
    'In this phase gemini can call handoff.write with `target` codex.',
  );
  expect(refusal(() => judgeCompletion({ ...CYCLE, phase: 'complete' }, '/r', 'gemini', TOKEN)).next).toBe('In this phase gemini can call cycle.archive.');
  expect(refusal(() => judgeArchive({ ...CYCLE, phase: 'frontend_refine' }, '/r', 'gemini', TOKEN))).toMatchObject({
    next: 'In this phase gemini can call handoff.write with `target` codex, or cycle.complete. Archive it after cycle.complete.',
    details: { phase: 'frontend_refine' },
  });
  expect(
    refusal(() => judgeHandoff({ ...CYCLE, phase: 'frontend_refine' }, '/r', 'gemini', { target: 'gemini', payload, lock_token: TOKEN, secrets: [] })).next,
  ).toBe('In this phase gemini can call handoff.write with `target` codex, or cycle.complete.');
});

test('session role, active role and lock role must be the same [lock.acquire.lock-role]', () => {
  for (const active_role of ['gemini', 'codex'])
    for (const lock_role of ['gemini', 'codex'])
      for (const role of ['gemini', 'codex']) {
        const acquire = () => judgeAcquire({ ...CYCLE, active_role, lock_role }, '/r', role);
        if (role === active_role && role === lock_role) expect(acquire().lock_token).toBe(TOKEN);
        else expect(refusal(acquire).code).toBe('LOCK_DENIED');
      }
  expect(refusal(() => judgeAcquire(undefined, '/r', 'gemini')).code).toBe('NO_ACTIVE_CYCLE');
});

test.each(GEMINI_AND_CODEX.phases)('complete and archive in $name check the phase first, then role, lock and token', ({ name, role }) => {
  const at: JudgedCycle = { ...CYCLE, phase: name, active_role: role, lock_role: role };
  const other = role === 'gemini' ? 'codex' : 'gemini';
  for (const [judge, allowedIn, code] of [
    [judgeCompletion, 'frontend_refine', 'INVALID_PHASE'],
    [judgeArchive, 'complete', 'ARCHIVE_NOT_ALLOWED'],
  ] as const) {
    if (name !== allowedIn) {
      expect(refusal(() => judge(at, '/r', other, 'wrong')).code).toBe(code);
      expect(refusal(() => judge(at, '/r', role, TOKEN)).code).toBe(code);
      continue;
    }
    expect(() => judge(at, '/r', 'gemini', TOKEN)).not.toThrow();
    expect(refusal(() => judge(at, '/r', 'codex', TOKEN)).message).toBe('role is not active for the current phase');
    expect(refusal(() => judge({ ...at, lock_role: 'codex' }, '/r', 'gemini', TOKEN)).message).toBe('the lock is not held by the active role');
    expect(refusal(() => judge(at, '/r', 'gemini', 'wrong')).message).toBe('the lock token is not the current one');
    expect(refusal(() => judge(undefined, '/r', 'gemini', TOKEN)).code).toBe('NO_ACTIVE_CYCLE');
  }
});
