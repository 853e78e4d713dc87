import { expect, test } from 'vitest';
import { GEMINI_AND_CODEX } from '../../../features/cycle/machine.ts';
import { actorNamer, type CurrentCycle, type CycleAnswer, eventLine, handoffLines, nextTools, statusLines } from './cycle-text.ts';

const who = actorNamer(new Map([['dev_1', 'ana']]));
const AT = Date.UTC(2026, 1, 20, 21, 56, 22);

test('shows a developer by name, an agent with its developer, and an unknown developer as @private', () => {
  expect(['operator', 'developer:dev_1', 'agent:codex@dev_1', 'agent:codex@dev_2', 'instance:work-1-a1'].map(who)).toEqual([
    'the operator',
    'ana',
    'codex of ana',
    'codex of @private',
    'instance:work-1-a1',
  ]);
});

test.each([
  ['frontend', ['handoff.write to codex (→ backend)']],
  ['frontend_refine', ['handoff.write to codex (→ backend)', 'cycle.complete (→ complete)']],
  ['complete', ['cycle.archive']],
])('in the phase %s, the next steps come from the transitions of the cycle', (phase, ways) => {
  expect(nextTools({ machine: GEMINI_AND_CODEX }, { phase })).toEqual(ways);
});

test('prints an event on one line: time, actor, event, phases and turn', () => {
  const moved = { phase: 'backend', active_role: 'codex' };
  const line = (kind: string, payload: object) => eventLine({ kind, actor: 'agent:gemini@dev_1', time: AT, payload: { ...payload } }, who);
  expect(line('cycle.handed_over', { ...moved, from_phase: 'frontend', producer: 'gemini', target: 'codex' })).toBe(
    '2026-02-20T21:56:22Z gemini of ana: gemini handed over to codex (frontend → backend, turn of codex)',
  );
  expect(line('cycle.cancelled', { ...moved, reason: 'the API\nchanged' })).toBe('2026-02-20T21:56:22Z gemini of ana: cancelled the cycle: the API changed');
  expect(line('cycle.psk_refused', { role: 'codex', failures: 2 })).toContain('was refused a session of codex: wrong PSK (2 so far)');
  expect(line('cycle.something_new', {})).toBe('2026-02-20T21:56:22Z gemini of ana: cycle.something_new');
});

test('shows the last handoff for each role, and shows session.open as the next call of a role without a session', () => {
  const cycle = {
    cycle_id: 'c',
    feature: 'checkout',
    phase: 'backend',
    active_role: 'codex',
    lock_acquired_at: AT,
    created_at: AT,
    started_by: 'operator',
    reworks: 1,
  };
  const handoff = (number: number, files: string[]) => ({
    number,
    producer: 'gemini',
    target: 'codex',
    created_at: AT,
    payload: { files_modified: files, endpoints: [{}], todos: [] },
  });
  const session = { session_id: 'rses_1', role: 'gemini', status: 'open', actor: 'developer:dev_1', last_seen: AT, expires_at: AT + 3_600_000 };
  const shown = { machine: GEMINI_AND_CODEX, handoffs: [handoff(1, ['old.ts']), handoff(2, ['a.ts', 'b.ts'])], sessions: [session] } as unknown as CycleAnswer;
  const lines = (more: object) => statusLines({ ...shown, ...more }, cycle as CurrentCycle, who, AT + 240_000);
  expect(lines({})).toContain('  for codex   present, from gemini, 4 m ago: 2 files, 1 endpoint, 0 todos');
  expect(lines({})).toContain('  for gemini  empty');
  expect(lines({})).toContain('Turn     codex, has held the lock since 2026-02-20T21:56:22Z (4 m ago)');
  expect(lines({})).toContain('To do    codex: session.open, lock.acquire, then handoff.write to gemini (→ frontend_refine)');
  expect(lines({})).toContain('  gemini  rses_1  opened by ana, last seen 4 m ago, expires 2026-02-20T22:56:22Z');
  expect(lines({ sessions: [{ ...session, role: 'codex' }] })).toContain('To do    codex: lock.acquire, then');
  expect(lines({ sessions: [{ ...session, status: 'expired' }] })).toContain('none: each role calls session.open with its PSK');
});

test('shows all fields of a handoff, also those that only this handoff has', () => {
  const payload = { producer: 'gemini', todos: ['first\nand more'], endpoints: [{ method: 'GET', path: '/cart', auth: true }], notes: [], risk: { level: 2 } };
  expect(handoffLines({ number: 3, producer: 'gemini', target: 'codex', created_at: AT, payload }, AT)).toBe(
    [
      'Handoff 3, from gemini to codex, 0 s ago',
      'Todos\n  - first\n    and more',
      'Endpoints\n  - GET /cart  {"auth":true}',
      'Notes\n  none',
      'Risk\n  {\n    "level": 2\n  }',
    ].join('\n\n'),
  );
});
