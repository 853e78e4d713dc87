import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TestCaller } from '../../testing/app.ts';
import { type CycleApp, checkFiles, cycleApp, filesOf, PSKS } from '../../testing/scenes/cycle.ts';
import type { Body } from '../../testing/scenes/workflow.ts';
import { inRun } from '../../testing/scope.ts';
import { ENGINE } from '../../testing/store/database.ts';
import { hashToken } from './tokens.ts';

const HOUR = 3_600_000;
const TTL = 12 * HOUR;

/**
 * Ana has the role gemini, and Ben has the role codex. Eve may call every tool, but has no PSK. Mallory has no PSK either, but has seen all tokens
 * and all calls so far.
 */
const WHO = ['ana', 'ben', 'eve', 'mallory'] as const;
type Who = (typeof WHO)[number];
const ROLE_OF: Partial<Record<Who, keyof typeof PSKS>> = { ana: 'gemini', ben: 'codex' };

const TOOLS = ['session.open', 'cycle.start', 'cycle.status', 'lock.acquire', 'handoff.read', 'handoff.write', 'cycle.complete', 'cycle.archive'] as const;
type Tool = (typeof TOOLS)[number];

/** A plan for the arguments of a call. The values are chosen when the call is made, from what exists at that time. */
interface Draw {
  /** `turn` stands for the active role. Random choice alone would rarely combine the active role with the right target. */
  readonly who: Who | 'turn';
  readonly tool: Tool;
  readonly session: 'own' | 'any' | 'garbage';
  readonly lock: 'current' | 'old' | 'garbage';
  readonly payload: 'good' | 'past' | 'reversed' | 'garbage' | 'telling';
  readonly target: string;
  readonly feature: string;
  readonly index: number;
}

type Step =
  | { do: 'advance'; back: boolean }
  | { do: 'call'; draw: Draw }
  | { do: 'pair'; draws: [Draw, Draw]; same: boolean }
  | { do: 'replay'; who: Who; index: number }
  | { do: 'cancel' }
  | { do: 'close'; index: number }
  | { do: 'wait'; ms: number };

const is = <const T extends string>(...names: T[]) => fc.constantFrom(...names);
const who = is(...WHO);
const draw: fc.Arbitrary<Draw> = fc.record({
  who: is(...WHO, 'ana', 'ben', 'turn', 'turn', 'turn', 'turn'),
  tool: is(...TOOLS, 'handoff.write', 'handoff.write', 'handoff.write', 'handoff.write', 'cycle.complete', 'cycle.archive'),
  session: is('own', 'own', 'own', 'own', 'any', 'garbage'),
  lock: is('current', 'current', 'old', 'garbage'),
  payload: is('good', 'good', 'good', 'past', 'reversed', 'garbage', 'telling'),
  target: is('next', 'next', 'next', 'next', 'codex', 'gemini', 'nobody'),
  feature: is('search', 'sign in', '§'),
  index: fc.nat(99),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ do: is('advance'), back: fc.boolean() }) },
  { weight: 10, arbitrary: fc.record({ do: is('call'), draw }) },
  { weight: 4, arbitrary: fc.record({ do: is('pair'), draws: fc.tuple(draw, draw), same: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ do: is('replay'), who, index: fc.nat(999) }) },
  { weight: 1, arbitrary: fc.record({ do: is('cancel') }) },
  { weight: 1, arbitrary: fc.record({ do: is('close'), index: fc.nat(99) }) },
  { weight: 2, arbitrary: fc.record({ do: is('wait'), ms: fc.constantFrom(1_000, 5 * HOUR, TTL) }) },
);

interface Session {
  readonly token: string;
  readonly role: string;
  readonly by: Who;
  readonly expires: number;
}

interface Running {
  readonly cycle_id: string | null;
  readonly feature: string;
  readonly phase: keyof typeof TURN;
  /** Null if the server has created a new value that the model does not know yet. */
  readonly token: string | null;
  readonly handoffs: Readonly<Record<string, unknown>>;
}

interface Model {
  readonly cycle: Running | null;
  readonly sessions: readonly Session[];
  readonly handedOver: number;
}

const TURN = { frontend: 'gemini', backend: 'codex', frontend_refine: 'gemini', complete: 'gemini' } as const;
const turnIn = ({ phase }: Running) => TURN[phase];
const AFTER: Readonly<Record<string, keyof typeof TURN | undefined>> = {
  'frontend codex': 'backend',
  'backend gemini': 'frontend_refine',
  'frontend_refine codex': 'backend',
};
const PRODUCER: Readonly<Record<string, string | undefined>> = { codex: 'gemini', gemini: 'codex' };
const LISTS = ['files_modified', 'endpoints', 'data_shapes', 'assumptions', 'todos', 'notes'];

interface Call {
  readonly who: Who;
  readonly tool: Tool;
  readonly args: Body;
}

/** What the model expects: the reply, which is `ok` or the code of the refusal, and the state after the call. */
function judge(model: Model, { who, tool, args }: Call, now: number): { said: string; model: Model } {
  const no = (said: string) => ({ said, model });
  const yes = (cycle: Running | null = model.cycle, handedOver = model.handedOver) => ({ said: 'ok', model: { ...model, cycle, handedOver } });
  const { cycle } = model;
  if (tool === 'cycle.status') return yes();
  if (tool === 'handoff.read') return PRODUCER[args.target] ? yes() : no('INVALID_TARGET');
  if (tool === 'cycle.start') {
    if (!/\w/.test(args.feature)) return no('SCHEMA_INVALID');
    return cycle ? no('CYCLE_ALREADY_ACTIVE') : yes({ cycle_id: null, feature: args.feature, phase: 'frontend', token: null, handoffs: {} });
  }
  if (tool === 'session.open') {
    if (!PRODUCER[args.role]) return no('INVALID_ROLE');
    return args.psk === PSKS[args.role as keyof typeof PSKS] ? yes() : no('AUTH_FAILED');
  }
  const session = model.sessions.find(({ token, by, expires }) => token === args.session_token && by === who && expires > now);
  if (!session) return no('INVALID_SESSION');
  if (!cycle) return no('NO_ACTIVE_CYCLE');
  const mine = turnIn(cycle) === session.role;
  const held = mine && args.lock_token === cycle.token;
  if (tool === 'lock.acquire') return mine ? yes() : no('LOCK_DENIED');
  if (tool === 'cycle.complete') {
    if (cycle.phase !== 'frontend_refine') return no('INVALID_PHASE');
    return held ? yes({ ...cycle, phase: 'complete' }) : no('LOCK_DENIED');
  }
  if (tool === 'cycle.archive') {
    if (cycle.phase !== 'complete') return no('ARCHIVE_NOT_ALLOWED');
    return held ? yes(null) : no('LOCK_DENIED');
  }
  const { target, payload } = args;
  if (!PRODUCER[target]) return no('INVALID_TARGET');
  const phase = AFTER[`${cycle.phase} ${target}`];
  if (!phase) return no('INVALID_PHASE');
  if (!held) return no('LOCK_DENIED');
  const fits =
    payload?.cycle_id === cycle.cycle_id && payload.feature === cycle.feature && payload.producer === PRODUCER[target] && payload.consumer === target;
  if (!fits || !LISTS.every((list) => Array.isArray(payload[list])) || /[0-9a-f]{48}/.test(JSON.stringify(payload))) return no('SCHEMA_INVALID');
  return yes({ ...cycle, phase, token: null, handoffs: { ...cycle.handoffs, [target]: payload } }, model.handedOver + 1);
}

interface World {
  readonly app: CycleApp;
  readonly callers: Record<Who, TestCaller>;
  model: Model;
  /** All tokens that were created so far. */
  readonly lockTokens: string[];
  readonly sessionTokens: string[];
  readonly calls: Call[];
}

const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % list.length];

function drawn(world: World, { tool, session, lock, payload, feature, index, ...drawing }: Draw): Call {
  const { model, lockTokens, sessionTokens, calls } = world;
  const turn = model.cycle ? turnIn(model.cycle) : 'gemini';
  const who = drawing.who === 'turn' ? (turn === 'codex' ? 'ben' : 'ana') : drawing.who;
  const target = drawing.target === 'next' ? (PRODUCER[turn] as string) : drawing.target;
  const own = model.sessions.filter(({ by }) => by === who).map(({ token }) => token);
  const session_token = (session === 'own' ? own.at(-1) : session === 'any' ? pick(sessionTokens, index) : undefined) ?? `sess_${'0'.repeat(48)}`;
  const lock_token = (lock === 'current' ? model.cycle?.token : lock === 'old' ? pick(lockTokens, index) : undefined) ?? '0'.repeat(48);
  const role = ROLE_OF[who];
  const past = calls.filter((call) => call.tool === 'handoff.write').map(({ args }) => args.payload);
  const reversed = payload === 'reversed';
  const good = {
    cycle_id: model.cycle?.cycle_id ?? 'none',
    feature: model.cycle?.feature ?? 'none',
    producer: reversed ? target : (PRODUCER[target] ?? 'nobody'),
    consumer: reversed ? PRODUCER[target] : target,
    ...Object.fromEntries(LISTS.map((list) => [list, []])),
    notes: [`${calls.length} by ${who}`, ...(payload === 'telling' ? [lock_token] : [])],
  };
  const given = payload === 'garbage' ? { cycle_id: 5 } : payload === 'past' ? (pick(past, index) ?? null) : good;
  const inputs: Record<Tool, Body> = {
    'session.open': role ? { role, psk: PSKS[role] } : { role: target, psk: `guess ${index}` },
    'cycle.start': { feature },
    'cycle.status': {},
    'handoff.read': { target },
    'lock.acquire': { session_token },
    'handoff.write': { target, payload: given, lock_token, session_token },
    'cycle.complete': { lock_token, session_token },
    'cycle.archive': { lock_token, session_token },
  };
  return { who, tool, args: { repository_path: world.app.repository, ...inputs[tool] } };
}

const rows = async ({ app: { app, repository } }: World) => {
  const cycles = await app.store.reader.selectFrom('cycles').selectAll().orderBy('id').execute();
  const handoffs = await app.store.reader.selectFrom('cycle_handoffs').selectAll().orderBy('cycle').orderBy('number').execute();
  return { cycles, handoffs, files: filesOf(repository) };
};

/** Makes one call, or two at the same time. The replies to two calls must be the same as if one call had come after the other. */
async function carryOut(world: World, calls: readonly Call[]): Promise<Body[]> {
  const { app, callers } = world;
  const now = app.clock.now();
  const before = await rows(world);
  const { model: was } = world;
  const answers: Body[] = await Promise.all(calls.map(async ({ who, tool, args }) => (await app.tool(tool, args, callers[who])).body));
  world.calls.push(...calls);
  const said = answers.map(({ ok, error }) => (ok ? 'ok' : error.code));
  const orders = [calls.map((_, index) => index), calls.map((_, index) => calls.length - 1 - index)];
  const outcomes = orders.map((order) => {
    let { model } = world;
    const expected: string[] = [];
    for (const index of order) ({ said: expected[index], model } = judge(model, calls[index] as Call, now));
    return { expected, model };
  });
  const outcome = outcomes.find(({ expected }) => expected.join() === said.join());
  if (!outcome) expect(said, JSON.stringify(calls)).toEqual(outcomes[0]?.expected);
  world.model = (outcome as (typeof outcomes)[number]).model;
  for (const [index, { who, tool, args }] of calls.entries()) {
    if (tool !== 'session.open' || said[index] !== 'ok') continue;
    const token = answers[index]?.data.session_token;
    expect(world.sessionTokens).not.toContain(token);
    world.sessionTokens.push(token);
    world.model = { ...world.model, sessions: [...world.model.sessions, { token, role: args.role, by: who, expires: now + TTL }] };
  }
  const after = await checkStore(world);
  if (!calls.some(({ tool }, index) => said[index] === 'ok' && CHANGES.has(tool))) expect(after).toEqual(before);
  for (const [index, call] of calls.entries()) checkAnswer(world, call, answers[index] as Body, was);
  return answers;
}

const CHANGES: ReadonlySet<Tool> = new Set(['cycle.start', 'handoff.write', 'cycle.complete', 'cycle.archive']);

/** Checks that only the calls that should return a token return one. If a change is in progress, a status may show the state before or after it. */
function checkAnswer({ model, lockTokens, sessionTokens }: World, { tool }: Call, answer: Body, was: Model = model): void {
  const { lock_token, session_token, ...rest } = answer.data ?? {};
  if (lock_token !== undefined) expect(['cycle.start', 'lock.acquire']).toContain(tool);
  if (session_token !== undefined) expect(tool).toBe('session.open');
  if (tool === 'cycle.status') {
    const { cycle_id, phase, lock } = rest;
    const states = [was, model].map(({ cycle }) => ({ cycle_id: cycle?.cycle_id ?? null, phase: cycle?.phase ?? null, locked: cycle !== null }));
    expect(states).toContainEqual({ cycle_id, phase, locked: lock.locked });
  }
  const text = JSON.stringify({ ...answer, data: rest });
  for (const token of [...lockTokens, ...sessionTokens]) expect(text).not.toContain(token);
}

/** Checks that the store matches the model and that the files match the store. */
async function checkStore(world: World) {
  const { app, model, lockTokens } = world;
  const now = await rows(world);
  const running = now.cycles.filter(({ status }) => status === 'active');
  expect(running).toHaveLength(model.cycle ? 1 : 0);
  const [row] = running;
  if (row && model.cycle) {
    const { phase, feature, token, cycle_id, handoffs } = model.cycle;
    expect(row).toMatchObject({ phase, feature, active_role: TURN[phase], lock_role: TURN[phase], ...(cycle_id === null ? {} : { cycle_id }) });
    if (token !== null) expect(row.lock_token).toBe(token);
    else {
      expect(row.lock_token).toMatch(/^[0-9a-f]{48}$/);
      expect(lockTokens).not.toContain(row.lock_token);
      lockTokens.push(row.lock_token);
    }
    world.model = { ...model, cycle: { ...model.cycle, token: row.lock_token, cycle_id: row.cycle_id } };
    const left = now.handoffs.filter(({ cycle }) => cycle === row.id).map(({ target, payload }) => [target, JSON.parse(payload)]);
    expect(Object.fromEntries(left)).toEqual(handoffs);
  }
  expect(now.handoffs).toHaveLength(model.handedOver);
  const told = app.app.store.reader.selectFrom('events').select('seq').where('kind', '=', 'cycle.handed_over');
  expect(await told.execute()).toHaveLength(model.handedOver);
  await checkFiles(app.app.store.reader, app.repository);
  return now;
}

const PROPER = { session: 'own', lock: 'current', payload: 'good', target: 'next', feature: 'search', index: 0 } as const;

/** The call that the active role makes next if nothing goes wrong. */
async function advance(world: World, back: boolean): Promise<void> {
  const { cycle } = world.model;
  const one = async (tool: Tool) => {
    const [answer] = await carryOut(world, [drawn(world, { ...PROPER, who: 'turn', tool })]);
    return answer as Body;
  };
  if (!cycle) return void (await one('cycle.start'));
  let acquired = await one('lock.acquire');
  if (!acquired.ok) {
    await one('session.open');
    acquired = await one('lock.acquire');
  }
  expect(acquired.data.lock_token).toBe(cycle.token);
  const tool = cycle.phase === 'complete' ? 'cycle.archive' : cycle.phase === 'frontend_refine' && !back ? 'cycle.complete' : 'handoff.write';
  expect((await one(tool)).ok).toBe(true);
}

async function take(world: World, action: Step): Promise<void> {
  const { app, calls } = world;
  if (action.do === 'advance') return await advance(world, action.back);
  if (action.do === 'call') return void (await carryOut(world, [drawn(world, action.draw)]));
  if (action.do === 'pair') {
    const [a, b] = action.draws;
    return void (await carryOut(world, [drawn(world, a), drawn(world, action.same ? { ...a, index: b.index } : b)]));
  }
  if (action.do === 'replay') {
    const call = pick(calls, action.index);
    // Mallory cannot replay calls with a PSK, because a PSK is the only value that others have not seen.
    if (!call || (call.tool === 'session.open' && call.who !== action.who)) return;
    return void (await carryOut(world, [{ ...call, who: action.who }]));
  }
  if (action.do === 'wait') app.clock.advance(action.ms);
  if (action.do === 'cancel') {
    const { body } = await app.action('cycles.cancel', { repository_path: app.repository, reason: 'not needed' });
    expect(body.code).toBe(world.model.cycle ? undefined : 'NO_ACTIVE_CYCLE');
    checkAnswer(world, { who: 'ana', tool: 'cycle.complete', args: {} }, body);
    world.model = { ...world.model, cycle: null };
  }
  if (action.do === 'close') {
    const session = pick(world.model.sessions, action.index);
    if (!session || session.expires <= app.clock.now()) return;
    const open = app.app.store.reader.selectFrom('role_sessions').select('id').where('token_sha256', '=', hashToken(session.token));
    const { id } = await open.executeTakeFirstOrThrow();
    checkAnswer(world, { who: 'ana', tool: 'cycle.complete', args: {} }, await app.done('cycles.close_session', { session_id: id }));
    world.model = { ...world.model, sessions: world.model.sessions.filter(({ token }) => token !== session.token) };
  }
  await checkStore(world);
}

/** The test runs longer under `npm run prove`. */
const PROVE = process.env.COVENANT_PROVE === '1';
const RUNS = PROVE ? { sqlite: 200, postgres: 100 } : { sqlite: 8, postgres: 4 };

test('with honest roles, a stranger and a replaying attacker, phases follow the order, only the lock holder writes, and no other answer contains a token [lock.token.where-shown] [lock.token.rotates] [lock.token.old-refused] [cycle.machine.others-refused] [cycle.start.one-per-repository] [handoff.write.no-token-in-answer]', {
  timeout: PROVE ? 1_800_000 : 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: PROVE ? 80 : 40 }),
      inRun(async (steps) => {
        const app = await cycleApp();
        const callers = { ana: app.ana, ben: app.ben, eve: await app.developer('eve'), mallory: await app.developer('mallory', 'codex') };
        const world: World = { app, callers, model: { cycle: null, sessions: [], handedOver: 0 }, lockTokens: [], sessionTokens: [], calls: [] };
        for (const who of ['ana', 'ben'] as const) await carryOut(world, [drawn(world, { ...PROPER, who, tool: 'session.open' })]);
        for (const action of steps) await take(world, action);
        const kept = JSON.stringify([await app.events(), app.logged, [...filesOf(app.repository)]]);
        for (const secret of [...world.lockTokens, ...world.sessionTokens, ...Object.values(PSKS)]) expect(kept).not.toContain(secret);
        await app.app.close();
      }),
    ),
    // Failures are not shrunk, because that takes hundreds of runs. The seed and the path are enough to repeat a failure.
    { numRuns: RUNS[ENGINE], seed: 20_261_115, endOnFailure: true },
  );
});
