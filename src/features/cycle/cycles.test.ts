import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testClock } from '../../testing/clock.ts';
import { brokerFile, brokerRepository, CONFIG, cycleApp, PSKS, readBroker, writeConfig } from '../../testing/scenes/cycle.ts';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import type { Body } from '../../testing/scenes/workflow.ts';
import { temporaryFolder } from '../../testing/store/database.ts';

const IDLE = {
  cycle_id: null,
  feature: null,
  phase: null,
  active_role: null,
  mode: 'approval',
  handoffs: { codex: { status: 'empty', updated_at: null }, gemini: { status: 'empty', updated_at: null } },
  lock: { locked: false, role: null },
};

test('a cycle starts and shows its state, and no other cycle can start in its repository [cycle.start.shape] [cycle.start.initial] [cycle.start.id] [cycle.start.already-active] [cycle.start.one-per-repository] [cycle.start.clears-handoffs] [cycle.status.shape] [cycle.status.handoffs] [cycle.status.lock] [config.broker.mode-shown]', async () => {
  const app = await cycleApp({ clock: testClock(Date.UTC(2026, 1, 20, 21, 56, 22)) });
  expect(await app.ok('cycle.status')).toEqual(IDLE);

  const started = await app.ok('cycle.start', { feature: 'featureX' });
  expect(started).toEqual({
    cycle_id: '20260220T215622Z_featureX',
    phase: 'frontend',
    active_role: 'gemini',
    lock_token: expect.stringMatching(/^[0-9a-f]{48}$/),
  });
  const status = await app.ok('cycle.status', {}, app.ben);
  expect(status).toEqual({
    ...IDLE,
    cycle_id: '20260220T215622Z_featureX',
    feature: 'featureX',
    phase: 'frontend',
    active_role: 'gemini',
    lock: { locked: true, role: 'gemini' },
  });

  const again = await app.refused('cycle.start', { feature: 'featureY' }, app.ben);
  expect(again).toMatchObject({ code: 'CYCLE_ALREADY_ACTIVE', details: { cycle_id: '20260220T215622Z_featureX' } });
  expect(await app.ok('cycle.status')).toEqual(status);

  // A cycle can start in another repository, and calls for that repository do not change this one.
  const elsewhere = { repository_path: brokerRepository({ ...CONFIG, mode: 'autonomous' }) };
  const other = await app.ok('cycle.start', { feature: 'featureX', ...elsewhere });
  expect(other.cycle_id).toBe(started.cycle_id);
  expect(other.lock_token).not.toBe(started.lock_token);
  expect(await app.ok('cycle.status', elsewhere)).toMatchObject({ mode: 'autonomous' });
  expect(readBroker(elsewhere.repository_path, 'state.json').mode).toBe('autonomous');
  expect(await app.ok('cycle.status')).toEqual(status);

  const gemini = await app.open('gemini');
  app.clock.advance(1_500);
  await app.handOver('codex', gemini);
  const handed = await app.ok('cycle.status');
  expect(handed).toMatchObject({ phase: 'backend', active_role: 'codex', lock: { locked: true, role: 'codex' } });
  expect(handed.handoffs).toEqual({ codex: { status: 'present', updated_at: '2026-02-20T21:56:23.500Z' }, gemini: { status: 'empty', updated_at: null } });

  await app.done('cycles.cancel', { repository_path: app.repository, reason: 'Something else comes first.' });
  expect(await app.ok('cycle.status')).toEqual(IDLE);
  const next = await app.ok('cycle.start', { feature: '  featureX ', mode: 'fast' });
  expect(next.cycle_id).toBe('20260220T215623Z_featureX');
  expect(await app.ok('cycle.status')).toMatchObject({ feature: 'featureX', mode: 'fast', handoffs: IDLE.handoffs });
  for (const target of ['codex', 'gemini']) {
    expect(await app.ok('handoff.read', { target })).toEqual({});
    expect(existsSync(brokerFile(app.repository, `handoff/${target}.json`))).toBe(false);
  }
});

test('ids are unique in their repository for any feature names, and a feature needs at least one character that ids can contain [cycle.start.id]', async () => {
  const app = await cycleApp({ clock: testClock(Date.UTC(2026, 1, 20, 21, 56, 22)) });
  const cancel = () => app.done('cycles.cancel', { repository_path: app.repository, reason: 'next' });
  const ids: string[] = [];
  for (const feature of ['x', 'x y', 'x', 'X', 'x-2', 'x', '../x']) {
    ids.push((await app.ok('cycle.start', { feature })).cycle_id.replace('20260220T215622Z_', ''));
    await cancel();
  }
  expect(ids).toEqual(['x', 'x_y', 'x-2', 'X', 'x-2-2', 'x-3', 'x-4']);
  for (const feature of ['日本', ' ', 'two\nlines', 'x'.repeat(201), 7, undefined]) {
    expect(await app.refused('cycle.start', { feature })).toMatchObject({ code: 'SCHEMA_INVALID', details: { field: 'feature' } });
  }
  expect(await app.ok('cycle.status')).toEqual(IDLE);
});

test('only the documented transitions are allowed; every other call is refused and changes nothing [cycle.machine.frontend-backend] [cycle.machine.backend-refine] [cycle.machine.refine-backend] [cycle.machine.refine-complete] [cycle.machine.others-refused] [cycle.machine.explicit-end] [cycle.complete.shape] [cycle.complete.phase] [cycle.complete.gemini-only] [cycle.complete.lock-token] [cycle.complete.state] [cycle.complete.lock-stays] [cycle.archive.shape] [cycle.archive.before-complete] [cycle.archive.gemini-only] [cycle.archive.lock-held] [cycle.archive.idle] [cycle.archive.clears-handoffs]', async () => {
  const app = await cycleApp();
  const sessions: Record<string, string> = { gemini: await app.open('gemini'), codex: await app.open('codex') };
  const { cycle_id } = await app.ok('cycle.start', { feature: 'x' });
  const store = app.app.store.reader;
  const whole = async () => [await store.selectFrom('cycles').selectAll().execute(), await store.selectFrom('cycle_handoffs').selectAll().execute()];
  /** Makes a call. Expects that it is refused with this code and that it changes nothing. */
  const holds = async (code: string, tool: string, args: object) => {
    const before = await whole();
    expect(await app.refused(tool, args)).toMatchObject({ code });
    expect(await whole()).toEqual(before);
  };
  const turn = async () => {
    const { active_role } = await app.ok('cycle.status');
    const session_token = sessions[active_role] as string;
    return { session_token, lock_token: (await app.ok('lock.acquire', { session_token })).lock_token as string };
  };
  /** Calls that the active role cannot make in this phase. */
  const refusals = async (targets: readonly ('codex' | 'gemini')[], completing: string | null, archiving: string | null) => {
    const held = await turn();
    for (const target of targets) await holds('INVALID_PHASE', 'handoff.write', { target, payload: await app.payload(target), ...held });
    if (completing) await holds(completing, 'cycle.complete', held);
    if (archiving) await holds(archiving, 'cycle.archive', held);
  };

  await refusals(['gemini'], 'INVALID_PHASE', 'ARCHIVE_NOT_ALLOWED');
  expect(await app.handOver('codex', sessions.gemini as string)).toMatchObject({ phase: 'backend', active_role: 'codex' });
  for (let rework = 0; rework < 2; rework++) {
    await refusals(['codex'], 'INVALID_PHASE', 'ARCHIVE_NOT_ALLOWED');
    expect(await app.handOver('gemini', sessions.codex as string)).toMatchObject({ phase: 'frontend_refine', active_role: 'gemini' });
    await refusals(['gemini'], null, 'ARCHIVE_NOT_ALLOWED');
    if (rework < 1) expect(await app.handOver('codex', sessions.gemini as string)).toMatchObject({ phase: 'backend', active_role: 'codex' });
  }
  expect(await app.done('cycles.list', {})).toMatchObject({ items: [{ cycle_id, reworks: 1 }] });

  const held = await turn();
  const foreign = { ...held, session_token: sessions.codex };
  await holds('LOCK_DENIED', 'cycle.complete', foreign);
  for (const lock_token of ['0'.repeat(48), '']) await holds('LOCK_DENIED', 'cycle.complete', { ...held, lock_token });
  await holds('SCHEMA_INVALID', 'cycle.complete', { session_token: held.session_token });
  await holds('INVALID_SESSION', 'cycle.complete', { lock_token: held.lock_token });
  expect(await app.ok('cycle.complete', held)).toEqual({ ok: true, phase: 'complete', active_role: 'gemini' });
  expect(await app.ok('cycle.status')).toMatchObject({ cycle_id, phase: 'complete', active_role: 'gemini', lock: { locked: true, role: 'gemini' } });
  // The role still has the lock, so the token is the same and the role may get it again.
  expect(await app.ok('lock.acquire', { session_token: held.session_token })).toEqual({ cycle_id, role: 'gemini', lock_token: held.lock_token });

  await refusals(['codex', 'gemini'], 'INVALID_PHASE', null);
  await holds('LOCK_DENIED', 'cycle.archive', foreign);
  await holds('LOCK_DENIED', 'cycle.archive', { ...held, lock_token: '0'.repeat(48) });
  const lockOf = (lock_role: string) =>
    app.app.store.write(app.ana.principal.workspace, async (tx) => void (await tx.db.updateTable('cycles').set({ lock_role }).execute()));
  await lockOf('codex');
  await holds('LOCK_DENIED', 'cycle.archive', held);
  await lockOf('gemini');
  app.clock.advance(1_000);
  expect(await app.ok('cycle.archive', held)).toEqual({ ok: true, cycle_id, archived_at: new Date(app.clock.now()).toISOString() });
  expect(await app.ok('cycle.status')).toEqual(IDLE);
  expect(readBroker(app.repository, 'lock.json').locked).toBe(false);
  for (const target of ['codex', 'gemini']) expect(await app.ok('handoff.read', { target })).toEqual({});
  for (const tool of ['cycle.complete', 'cycle.archive']) await holds('NO_ACTIVE_CYCLE', tool, held);
  await app.ok('cycle.start', { feature: 'x' });
});

test('of ten simultaneous starts only one succeeds, even from two workspaces [cycle.start.one-per-repository]', async () => {
  const app = await cycleApp();
  const zoe = await app.developer('zoe', undefined, 'ws_other');
  const callers = Array.from({ length: 10 }, (_, index) => (index % 2 ? app.ana : zoe));
  const start = (caller: typeof zoe) => app.tool('cycle.start', { feature: 'x', repository_path: app.repository }, caller);
  const answers = await Promise.all(callers.map(start));
  const [won, ...none] = answers.filter(({ isError }) => !isError);
  expect(none).toEqual([]);
  const lost = answers.filter(({ isError }) => isError).map(({ body }) => (body as Body).error.code);
  expect(lost).toEqual(Array(9).fill('CYCLE_ALREADY_ACTIVE'));
  expect(await app.app.store.reader.selectFrom('cycles').selectAll().execute()).toHaveLength(1);

  const [winner, loser] = callers[answers.indexOf(won as (typeof answers)[number])] === zoe ? [zoe, app.ana] : [app.ana, zoe];
  expect((await start(loser)).body).toMatchObject({
    error: { code: 'CYCLE_ALREADY_ACTIVE', message: expect.stringContaining('Another workspace'), details: { cycle_id: null } },
  });
  // The other workspace can neither see nor change the cycle.
  expect(await app.ok('cycle.status', {}, loser)).toEqual(IDLE);
  const session_token = await app.open('gemini', loser);
  expect((await app.refused('lock.acquire', { session_token }, loser)).code).toBe('NO_ACTIVE_CYCLE');
  await app.ok('lock.acquire', { session_token: await app.open('gemini', winner) }, winner);
  expect(readBroker(app.repository, 'state.json')).toMatchObject({ active: true, feature: 'x' });
});

test('a cycle keeps the machine that it started with, and cancelling ends it in any phase, with a reason [cycle.cancel.operator]', async () => {
  const app = await cycleApp();
  const gemini = await app.open('gemini');
  await app.ok('cycle.start', { feature: 'x' });
  const own = { roles: ['solo'], phases: { work: 'solo', done: 'solo' }, transitions: [{ from: 'work', to: 'done' }], final: 'done' };
  writeConfig(app.repository, { ...CONFIG, ...own, agents: { ...CONFIG.agents, solo: { psk: 'SOLO_SECRET' } } });
  await app.handOver('codex', gemini);
  expect(await app.ok('cycle.status')).toMatchObject({ phase: 'backend', handoffs: { codex: { status: 'present' } } });

  for (const args of [{ reason: '' }, {}]) expect((await app.action('cycles.cancel', { repository_path: app.repository, ...args })).isError).toBe(true);
  expect((await app.action('cycles.cancel', { repository_path: app.repository, reason: 'no' }, app.ana)).reply).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  const { cycle } = (await app.done('cycles.cancel', { repository_path: app.repository, reason: 'The plan has changed.' })) as Body;
  expect(cycle).toMatchObject({
    status: 'cancelled',
    phase: 'backend',
    reason: 'The plan has changed.',
    ended_by: 'operator',
    ended_at: app.clock.now(),
    archive: null,
  });
  expect(await app.events({ kind: 'cycle.cancelled' })).toMatchObject([{ subject: cycle.id, payload: { reason: 'The plan has changed.', phase: 'backend' } }]);
  expect(existsSync(brokerFile(app.repository, 'archive'))).toBe(false);
  // The handoffs of the cancelled cycle stay in the history.
  expect(await app.done('cycles.show', { id: cycle.id })).toMatchObject({
    cycle: { id: cycle.id },
    handoffs: [{ number: 1, producer: 'gemini', target: 'codex' }],
  });

  // The next cycle uses the new machine. A request to cancel the old cycle must not end the new one.
  expect(await app.ok('cycle.start', { feature: 'y' })).toMatchObject({ phase: 'work', active_role: 'solo' });
  expect((await app.action('cycles.cancel', { id: cycle.id, reason: 'again' })).reply).toMatchObject({
    code: 'NO_ACTIVE_CYCLE',
    message: `The cycle ${cycle.cycle_id} has already ended.`,
  });
  for (const [name, more] of [
    ['cycles.cancel', { reason: 'which?' }],
    ['cycles.show', {}],
  ] as const) {
    const both = await app.action(name, { id: cycle.id, repository_path: app.repository, ...more });
    expect(both.reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'repository_path' } });
  }
  expect((await app.action('cycles.cancel', { id: 'cyc_nope', reason: 'x' })).reply).toMatchObject({ code: 'CYCLE_NOT_FOUND', data: { field: 'id' } });
  expect(await app.ok('cycle.status')).toMatchObject({ feature: 'y', phase: 'work' });
  expect((await app.refused('lock.acquire', { session_token: gemini })).code).toBe('LOCK_DENIED');
  expect(await app.done('cycles.list', { status: ['cancelled'] })).toMatchObject({ total: 1, items: [{ feature: 'x' }] });
  expect(await app.done('cycles.list', { limit: 1 })).toMatchObject({ total: 2, items: [{ feature: 'y' }] });
});

test('an operator starts, completes and archives on behalf of a role, and gets no token [lock.token.where-shown]', async () => {
  const app = await cycleApp();
  const gemini = await app.open('gemini');
  const codex = await app.open('codex');
  const here = { repository_path: app.repository };
  const answers = [await app.done('cycles.start', { feature: 'x', ...here })];
  expect((await app.action('cycles.complete', here)).reply).toMatchObject({ code: 'INVALID_PHASE' });
  expect((await app.action('cycles.archive', here)).reply).toMatchObject({ code: 'ARCHIVE_NOT_ALLOWED' });
  await app.handOver('codex', gemini);
  await app.handOver('gemini', codex);
  answers.push(await app.done('cycles.complete', here), await app.done('cycles.show', here), await app.done('cycles.archive', here));
  expect(answers.map((answer) => (answer.cycle as Body).phase)).toEqual(['frontend', 'complete', 'complete', 'complete']);
  const { cycle } = answers[3] as Body;
  expect(cycle).toMatchObject({ status: 'archived', archive: brokerFile(app.repository, `archive/${cycle.cycle_id}`) });
  expect(existsSync(join(cycle.archive, 'manifest.json'))).toBe(true);
  expect(JSON.stringify(answers)).not.toMatch(/[0-9a-f]{48}|SECRET/);
  for (const name of ['cycles.start', 'cycles.complete', 'cycles.archive', 'cycles.cancel', 'cycles.show'])
    expect((await app.action(name, { ...here, feature: 'y', reason: 'y' }, app.ana)).reply).toMatchObject({ code: 'OPERATOR_REQUIRED' });
});

test("the repository is found from the caller's folder: the nearest folder with a broker, and for a worktree its main checkout", async () => {
  const repository = temporaryRepository();
  const part = join(repository.path, 'packages/part');
  mkdirSync(join(part, 'src'), { recursive: true });
  repository.commit('.mcp-broker/config.json', JSON.stringify(CONFIG));
  const beside = `${repository.path}-worktrees/x`;
  const within = join(repository.path, '.worktrees/y');
  repository.git(['worktree', 'add', '--quiet', '-b', 'x', beside]);
  repository.git(['worktree', 'add', '--quiet', '-b', 'y', within]);
  const app = await cycleApp({ repository: repository.path });
  await app.ok('cycle.start', { feature: 'x' });
  const status = async (repository_path: string) => (await app.ok('cycle.status', { repository_path })).feature;
  expect(await status(part)).toBe('x');
  expect([await status(beside), await status(join(beside, '.mcp-broker')), await status(within)]).toEqual(['x', 'x', 'x']);
  writeConfig(part, { ...CONFIG, mode: 'part' });
  expect(await app.ok('cycle.status', { repository_path: join(part, 'src') })).toMatchObject({ ...IDLE, mode: 'part' });
  await app.ok('cycle.start', { feature: 'y', repository_path: join(part, 'src') });
  expect(readBroker(part, 'state.json').feature).toBe('y');
  expect(await status(repository.path)).toBe('x');
  expect(readdirSync(join(beside, '.mcp-broker'))).toEqual(['config.json']);

  // Two forged worktree markers. One points to the repository through a link, the other points to a repository that does not exist.
  const forged = realpathSync(temporaryFolder());
  const marked = (main: string) => writeFileSync(join(forged, '.git'), `gitdir: ${main}/.git/worktrees/x\n`);
  symlinkSync(repository.path, join(forged, 'way'));
  marked(join(forged, 'way'));
  expect((await app.refused('cycle.start', { feature: 'z', repository_path: forged })).code).toBe('CYCLE_ALREADY_ACTIVE');
  marked(join(forged, 'nowhere'));
  expect(await app.refused('cycle.start', { feature: 'z', repository_path: forged })).toMatchObject({ code: 'SCHEMA_INVALID' });

  // A bridge reports this path. Whether a call or a bridge gives the path, it must be the absolute path of an existing folder.
  const reported = { name: 'cycle.status', args: {}, principal: app.ana.principal, surface: 'mcp' } as const;
  expect((await app.app.dispatch.tool({ ...reported, repository: part })).body).toMatchObject({ ok: true, data: { feature: 'y' } });
  expect((await app.app.dispatch.tool(reported)).body).toMatchObject({ error: { code: 'SCHEMA_INVALID', details: { field: 'repository_path' } } });
  for (const repository_path of ['packages/part', join(part, 'nowhere'), join(part, '.mcp-broker/config.json'), '', 7])
    expect(await app.refused('cycle.status', { repository_path })).toMatchObject({ code: 'SCHEMA_INVALID', details: { field: 'repository_path' } });
});

test('a server that is limited to some folders uses no other folders', async () => {
  const inside = brokerRepository();
  const outside = brokerRepository();
  const app = await cycleApp({ repositories: [inside], repository: inside });
  await app.ok('cycle.start', { feature: 'x' });
  const refusal = await app.refused('session.open', { repository_path: outside, role: 'gemini', psk: PSKS.gemini });
  expect(refusal).toMatchObject({ code: 'CONFIG_INVALID', details: { field: 'repository_path' } });
  // The server also does not reveal what exists in other folders.
  for (const repository_path of [outside, join(outside, 'nowhere'), join(inside, '..', 'nowhere')])
    expect((await app.refused('cycle.start', { repository_path, feature: 'x' })).code).toBe('CONFIG_INVALID');
  expect(readdirSync(brokerFile(outside, ''))).toEqual(['config.json']);
});

test('a path that is too long for a database key is refused with an error that names its field', async () => {
  const app = await cycleApp();
  const deep = join(app.repository, ...Array.from({ length: 10 }, () => 'é'.repeat(110)));
  mkdirSync(deep, { recursive: true });
  expect(deep.length).toBeLessThan(1_300);
  const short = join(app.repository, 'short');
  symlinkSync(deep, short);
  expect(await app.refused('cycle.start', { feature: 'x', repository_path: short })).toMatchObject({
    code: 'SCHEMA_INVALID',
    details: { field: 'repository_path' },
  });
});
