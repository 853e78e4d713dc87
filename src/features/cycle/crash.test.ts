import { expect, test } from 'vitest';
import { startSteppingCaller } from '../../testing/programs/stepping-caller.ts';
import { checkFiles, cycleApp, filesOf, readBroker } from '../../testing/scenes/cycle.ts';
import type { Body } from '../../testing/scenes/workflow.ts';
import { ENGINE } from '../../testing/store/database.ts';

/** The test tries more steps under `npm run prove`. */
const PROVE = process.env.COVENANT_PROVE === '1';

const WAY = ['cycle.start', 'handoff.write codex', 'handoff.write gemini', 'cycle.complete', 'cycle.archive'] as const;
type Act = (typeof WAY)[number];

/** The number of steps of each call that are tried without `npm run prove`. The number is small, because each try starts a process. */
const TRIED: Record<Act, number> = {
  'cycle.start': 2,
  'handoff.write codex': 3,
  'handoff.write gemini': 1,
  'cycle.complete': 1,
  'cycle.archive': 3,
};

/** The steps to try: right after the commit, right before it, and others that are spread over all steps. */
function points(act: Act, steps: number): number[] {
  if (PROVE && ENGINE === 'sqlite') return Array.from({ length: steps }, (_, index) => index + 1);
  const others = TRIED[act] - 2;
  return [2, 1, ...Array.from({ length: Math.max(0, others) }, (_, index) => 2 + Math.round(((index + 1) * (steps - 2)) / others))].slice(0, TRIED[act]);
}

const REFUSED: Record<Act, string> = {
  'cycle.start': 'CYCLE_ALREADY_ACTIVE',
  'handoff.write codex': 'INVALID_PHASE',
  'handoff.write gemini': 'INVALID_PHASE',
  'cycle.complete': 'INVALID_PHASE',
  'cycle.archive': 'NO_ACTIVE_CYCLE',
};

test('if the server is killed at any step of start, write, complete or archive, all or nothing is done, and the next call or sweep writes the files [handoff.write.atomic]', {
  timeout: PROVE ? 1_800_000 : 120_000,
}, async () => {
  const home = await cycleApp();
  const { database, repository, clock, ana } = home;
  const sessions = { gemini: await home.open('gemini'), codex: await home.open('codex') };
  const steps = new Map<Act, number>();
  let round = 0;

  const argsOf = async (act: Act): Promise<Body> => {
    if (act === 'cycle.start') return { feature: `round ${round}` };
    const role = act === 'handoff.write gemini' ? 'codex' : 'gemini';
    const { lock_token } = await home.ok('lock.acquire', { session_token: sessions[role] });
    const held = { session_token: sessions[role], lock_token };
    const target = role === 'codex' ? 'gemini' : 'codex';
    return act.startsWith('handoff') ? { ...held, target, payload: await home.payload(target, { notes: [`round ${round}`] }) } : held;
  };
  const rows = async () => {
    const { reader } = home.app.store;
    const cycles = await reader.selectFrom('cycles').selectAll().orderBy('id').execute();
    const handoffs = await reader.selectFrom('cycle_handoffs').selectAll().orderBy('cycle').orderBy('number').execute();
    const told = await reader.selectFrom('events').select('kind').where('category', '=', 'work').where('kind', 'like', 'cycle.%').orderBy('seq').execute();
    return { cycles: cycles.map(({ mirrored: _, ...row }) => row), handoffs, told: told.map(({ kind }) => kind) };
  };
  const killAt = async (act: Act, point: number): Promise<boolean> => {
    const [name] = act.split(' ') as [string];
    const args = { repository_path: repository, ...(await argsOf(act)) };
    const before = await rows();
    const caller = await startSteppingCaller({ database, clock }, ana.token);
    expect(await caller.call(name, args, point)).toBeNull();
    const after = await rows();
    const done = after.told.length > before.told.length;
    if (done) {
      expect(after.told).toHaveLength(before.told.length + 1);
      expect(after.handoffs).toHaveLength(before.handoffs.length + (name === 'handoff.write' ? 1 : 0));
      const running = after.cycles.find(({ status }) => status === 'active');
      expect(running?.lock_role).toBe(running?.active_role);
      if (running && name === 'handoff.write') expect(running.lock_token).not.toBe(args.lock_token);
    } else expect(after).toEqual(before);
    // A server that starts afterwards repairs the files with its first call, or with its sweep if there is no call.
    const next = await cycleApp({ database, repository });
    if (point % 2 === 0) await next.ok('cycle.status', {}, ana);
    else next.clock.advance(1);
    await next.app.close();
    await checkFiles(home.app.store.reader, repository);
    expect(await rows()).toEqual(after);
    // If the killed call did nothing, the same call succeeds now. Otherwise it is refused.
    if (done) expect((await home.refused(name, args)).code).toBe(REFUSED[act]);
    else await home.ok(name, args);
    return done;
  };
  const walk = async (each: (act: Act) => Promise<void>) => {
    round++;
    for (const act of WAY) await each(act);
    const { cycles } = await rows();
    expect(cycles.map(({ status }) => status)).toEqual(cycles.map(() => 'archived'));
    await checkFiles(home.app.store.reader, repository);
  };

  // The first call also creates the folders.
  await walk(async (act) => void (await home.ok(act.split(' ')[0] as string, await argsOf(act))));
  const counting = await startSteppingCaller({ database, clock }, ana.token);
  await walk(async (act) => {
    const answer = await counting.call(act.split(' ')[0] as string, { repository_path: repository, ...(await argsOf(act)) });
    expect(answer?.body.ok).toBe(true);
    steps.set(act, answer?.steps ?? 0);
  });
  await counting.end();

  const left = new Map(WAY.map((act) => [act, points(act, steps.get(act) ?? 0)]));
  // The commit is the first step. If the server is killed before it, nothing is done. If it is killed later, everything is done.
  while ([...left.values()].some((some) => some.length > 0)) {
    await walk(async (act) => {
      const point = left.get(act)?.shift();
      if (point === undefined) await home.ok(act.split(' ')[0] as string, await argsOf(act));
      else expect(await killAt(act, point), `${act}, step ${point}`).toBe(point > 1);
    });
  }
  expect([...filesOf(repository).keys()].filter((path) => /\.tmp/.test(path))).toEqual([]);
});

test('when two processes hand over at the same time with the same token, one succeeds, and the files show its handoff [handoff.write.atomic]', async () => {
  const app = await cycleApp();
  const { repository } = app;
  const sessions = { gemini: await app.open('gemini'), codex: await app.open('codex') };
  await app.ok('cycle.start', { feature: 'race' });
  const callers = await Promise.all([startSteppingCaller(app, app.ana.token), startSteppingCaller(app, app.ana.token)]);
  for (let round = 0; round < (PROVE ? 200 : 8); round++) {
    const target = round % 2 === 0 ? 'codex' : 'gemini';
    const session_token = sessions[target === 'codex' ? 'gemini' : 'codex'];
    const { lock_token } = await app.ok('lock.acquire', { session_token });
    const payloads = await Promise.all(callers.map((_, index) => app.payload(target, { notes: [`${round} by ${index}`] })));
    const answers = await Promise.all(
      callers.map((caller, index) =>
        caller.call('handoff.write', { repository_path: repository, target, session_token, lock_token, payload: payloads[index] }),
      ),
    );
    const said = answers.map((answer) => (answer?.body.ok ? 'ok' : answer?.body.error.code));
    const winner = said.indexOf('ok');
    expect(said.toSorted()).toEqual(['INVALID_PHASE', 'ok']);
    await checkFiles(app.app.store.reader, repository);
    expect(readBroker(repository, `handoff/${target}.json`)).toEqual(payloads[winner]);
    expect(await app.events({ kind: 'cycle.handed_over' })).toHaveLength(round + 1);
  }
  await Promise.all(callers.map((caller) => caller.end()));
});
