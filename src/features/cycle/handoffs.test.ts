import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { brokerFile, CONFIG, cycleApp, readBroker, writeConfig } from '../../testing/scenes/cycle.ts';
import type { Body } from '../../testing/scenes/workflow.ts';

test('a handoff changes payload, phase, role and lock together, and can be read [handoff.write.shape] [handoff.write.next-step] [handoff.write.file] [handoff.write.status-present] [handoff.write.event] [handoff.read.payload] [handoff.read.empty] [handoff.read.no-session] [handoff.read.shape] [handoff.payload.extras]', async () => {
  const app = await cycleApp();
  expect(await app.ok('handoff.read', { target: 'codex' })).toEqual({});
  const session_token = await app.open('gemini');
  const { cycle_id, lock_token } = await app.ok('cycle.start', { feature: 'x' });
  expect(await app.ok('handoff.read', { target: 'codex' })).toEqual({});

  const payload = await app.payload('codex', {
    endpoints: [{ method: 'GET', path: '/users', returns: 'User[]' }],
    data_shapes: ['User', { id: 'text' }],
    notes: ['a "quoted" note\nin two lines', 'ünï'],
    extras: { branch: 'x', nested: [{ deep: true }] },
    own_field: 1,
  });
  app.clock.advance(2_000);
  const answer = await app.ok('handoff.write', { target: 'codex', payload, session_token, lock_token });
  expect(answer).toEqual({ ok: true, phase: 'backend', active_role: 'codex', next_step: 'Provide lock_token to codex' });

  const at = app.clock.now();
  expect(await app.ok('handoff.read', { target: 'codex' }, app.ben)).toEqual(payload);
  expect(await app.ok('handoff.read', { target: 'gemini' })).toEqual({});
  expect(readBroker(app.repository, 'handoff/codex.json')).toEqual(payload);
  expect(existsSync(brokerFile(app.repository, 'handoff/gemini.json'))).toBe(false);
  expect((await app.ok('cycle.status')).handoffs.codex).toEqual({ status: 'present', updated_at: new Date(at).toISOString() });
  const [event, ...more] = await app.events({ kind: 'cycle.handed_over' });
  expect(more).toEqual([]);
  expect(event).toMatchObject({
    category: 'work',
    actor: app.ana.principal.actor,
    payload: { cycle_id, from_phase: 'frontend', phase: 'backend', producer: 'gemini', target: 'codex', active_role: 'codex', handoff: 1 },
  });
  expect(JSON.stringify(event)).not.toContain('quoted');

  const codex = await app.open('codex');
  const held = await app.ok('lock.acquire', { session_token: codex });
  const back = await app.payload('gemini', { notes: ['first'] });
  const second = await app.ok('handoff.write', { target: 'gemini', payload: back, session_token: codex, lock_token: held.lock_token });
  expect(second.next_step).toBe('Provide lock_token to gemini');
  expect(readBroker(app.repository, 'handoff/gemini.json')).toEqual(back);
  // A new handoff replaces the previous one.
  await app.handOver('codex', session_token, { payload: { ...payload, notes: ['reworked'] } });
  expect((await app.ok('handoff.read', { target: 'codex' })).notes).toEqual(['reworked']);
  expect(readBroker(app.repository, 'handoff/codex.json').notes).toEqual(['reworked']);

  for (const target of ['claude', '', 7, null, undefined, '../config', '__proto__']) {
    expect(await app.refused('handoff.read', { target })).toMatchObject({ code: 'INVALID_TARGET', details: { field: 'target' } });
  }
  const { url } = await app.serve();
  const body = JSON.stringify({ tool: 'handoff.read', arguments: { target: 'codex', repository_path: app.repository } });
  for (const [headers, status] of [
    [{ authorization: `Bearer ${app.ben.token}` }, 200],
    [{ authorization: 'Bearer cv_nobody' }, 401],
    [{}, 401],
  ] as const) {
    expect((await fetch(`${url}/api/mcp`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })).status).toBe(status);
  }
});

test('invalid writes are refused with their own codes and change nothing [handoff.write.target] [handoff.write.session] [handoff.write.phase] [handoff.write.producer-role] [handoff.write.active-role] [handoff.write.lock-token] [handoff.write.atomic] [handoff.payload.cycle-id] [handoff.payload.feature] [handoff.payload.to-codex] [handoff.payload.to-gemini] [handoff.payload.arrays] [handoff.payload.extras]', async () => {
  const app = await cycleApp();
  const gemini = await app.open('gemini');
  const codex = await app.open('codex');
  const { lock_token } = await app.ok('cycle.start', { feature: 'x' });
  const store = app.app.store.reader;
  const whole = async () => [
    await store.selectFrom('cycles').selectAll().execute(),
    await store.selectFrom('cycle_handoffs').selectAll().execute(),
    readBroker(app.repository, 'state.json'),
    readBroker(app.repository, 'lock.json'),
    existsSync(brokerFile(app.repository, 'handoff/codex.json')),
  ];
  let right: Body = { target: 'codex', payload: await app.payload('codex'), session_token: gemini, lock_token };
  let before = await whole();
  const holds = async (expected: object, args: object, caller = app.ana) => {
    expect(await app.refused('handoff.write', { ...right, ...args }, caller)).toMatchObject(expected);
    expect(await whole()).toEqual(before);
  };
  const payload = (more: object) => ({ payload: { ...right.payload, ...more } });

  for (const target of ['claude', '', 7, null, undefined]) await holds({ code: 'INVALID_TARGET', details: { field: 'target' } }, { target });
  for (const session_token of ['sess_unknown', '', undefined]) await holds({ code: 'INVALID_SESSION' }, { session_token });
  await holds({ code: 'INVALID_SESSION' }, {}, app.ben);
  await holds(
    { code: 'INVALID_PHASE', details: { phase: 'frontend', next: 'In this phase gemini can call handoff.write with `target` codex.' } },
    { target: 'gemini' },
  );
  // Only gemini can hand over to codex, and it is not codex's turn.
  await holds(
    { code: 'LOCK_DENIED', message: 'codex does not hand over to codex', details: { activeRole: 'gemini', requestedRole: 'codex' } },
    { session_token: codex },
  );
  for (const stale of ['0'.repeat(48), '', lock_token.toUpperCase()])
    await holds({ code: 'LOCK_DENIED', details: { activeRole: 'gemini' } }, { lock_token: stale });
  await holds({ code: 'SCHEMA_INVALID', details: { field: 'lock_token' } }, { lock_token: undefined });

  const invalid = async (field: string, args: object) => holds({ code: 'SCHEMA_INVALID', details: { field: `payload${field}` } }, args);
  for (const value of [undefined, '', '20200101T000000Z_x']) await invalid('.cycle_id', payload({ cycle_id: value }));
  for (const value of [undefined, '', 'y']) await invalid('.feature', payload({ feature: value }));
  for (const value of [undefined, '', 'codex']) await invalid('.producer', payload({ producer: value }));
  for (const value of [undefined, '', 'gemini']) await invalid('.consumer', payload({ consumer: value }));
  for (const list of ['files_modified', 'endpoints', 'data_shapes', 'assumptions', 'todos', 'notes'])
    for (const value of [undefined, {}]) await invalid(`.${list}`, payload({ [list]: value }));
  for (const value of ['text', []]) await invalid('.extras', payload({ extras: value }));
  for (const value of [undefined, 'text']) await invalid('', { payload: value });
  // Secrets in a payload are refused, because everybody can read a handoff.
  for (const secret of [lock_token, gemini, CONFIG.agents.codex.psk]) await invalid('.notes', payload({ notes: [`lock_token: ${secret}`] }));

  await app.ok('handoff.write', right);
  const held = await app.ok('lock.acquire', { session_token: codex });
  right = { target: 'gemini', payload: await app.payload('gemini'), session_token: codex, lock_token: held.lock_token };
  before = await whole();
  await invalid('.producer', payload({ producer: 'gemini' }));
  await invalid('.consumer', payload({ consumer: 'codex' }));
  await holds({ code: 'LOCK_DENIED', message: 'gemini does not hand over to gemini' }, { session_token: gemini });
  await holds({ code: 'INVALID_PHASE' }, { target: 'codex', session_token: gemini });
  writeConfig(app.repository, { ...CONFIG, agents: { gemini: CONFIG.agents.gemini } });
  await holds({ code: 'CONFIG_INVALID' }, { session_token: 'sess_unknown' });
  writeConfig(app.repository, CONFIG);
  await app.done('cycles.cancel', { repository_path: app.repository, reason: 'x' });
  before = await whole();
  await holds({ code: 'NO_ACTIVE_CYCLE' }, { target: 'claude' });
});

test('a role that could produce but is not active is refused [handoff.write.active-role]', async () => {
  const app = await cycleApp();
  const psks = { a: 'SECRET_OF_A', b: 'SECRET_OF_B', c: 'SECRET_OF_C' };
  writeConfig(app.repository, {
    agents: Object.fromEntries(Object.entries(psks).map(([role, psk]) => [role, { psk }])),
    roles: ['a', 'b', 'c'],
    phases: { one: 'a', two: 'b', three: 'c', end: 'c' },
    transitions: [
      { from: 'one', target: 'c', to: 'three' },
      { from: 'one', target: 'b', to: 'two' },
      { from: 'two', target: 'c', to: 'three' },
      { from: 'three', to: 'end' },
    ],
    final: 'end',
  });
  const { lock_token } = await app.ok('cycle.start', { feature: 'x' });
  const { session_token } = await app.ok('session.open', { role: 'b', psk: psks.b });
  const payload = await app.payload('codex', { producer: 'b', consumer: 'c' });
  // A role that is not active is refused even if it has the current token.
  expect(await app.refused('handoff.write', { target: 'c', payload, session_token, lock_token })).toMatchObject({
    code: 'LOCK_DENIED',
    message: 'role is not active for the current phase',
    details: { activeRole: 'a', requestedRole: 'b' },
  });
});

test('of ten writes with the same token, only one succeeds [handoff.write.atomic]', async () => {
  const app = await cycleApp();
  const session_token = await app.open('gemini');
  const { lock_token } = await app.ok('cycle.start', { feature: 'x' });
  const payload = await app.payload('codex');
  const args = (note: number) => ({ target: 'codex', payload: { ...payload, notes: [`${note}`] }, session_token, lock_token, repository_path: app.repository });
  const answers = await Promise.all(Array.from({ length: 10 }, (_, note) => app.tool('handoff.write', args(note), app.ana)));
  const won = answers.flatMap(({ isError }, note) => (isError ? [] : [`${note}`]));
  expect(won).toHaveLength(1);
  expect(answers.filter(({ isError }) => isError).map(({ body }) => (body as Body).error.code)).toEqual(Array(9).fill('INVALID_PHASE'));
  expect(await app.app.store.reader.selectFrom('cycle_handoffs').selectAll().execute()).toHaveLength(1);
  expect((await app.ok('handoff.read', { target: 'codex' })).notes).toEqual(won);
  expect(readBroker(app.repository, 'handoff/codex.json').notes).toEqual(won);
});

test('handoffs are listed by number, read with the previous one for the same role, and counted by transition of the machine', async () => {
  const t = await cycleApp();
  const [gemini, codex] = [await t.open('gemini'), await t.open('codex')];
  await t.ok('cycle.start', { feature: 'checkout' });
  await t.handOver('codex', gemini, { payload: await t.payload('codex', { todos: ['a', 'b'] }) });
  await t.handOver('gemini', codex);
  await t.handOver('codex', gemini, { payload: await t.payload('codex', { todos: ['b', 'c'], notes: ['mind the cache'] }) });
  const [{ id }] = (await t.done('cycles.list', {})).items as [{ id: string }];
  const show = () => t.done('cycles.show', { id, handoffs: 0 });
  expect(await show()).toMatchObject({ handoffs: [], handoffs_total: 3, taken: [1, 1, 1, 0] });
  // The latest handoff for each role.
  const { handoffs } = (await t.done('cycles.show', { id, handoffs: 1 })) as Body;
  expect(handoffs.map(({ number, target }: Body) => [number, target]).sort()).toEqual([
    [2, 'gemini'],
    [3, 'codex'],
  ]);
  const listed = await t.done('cycles.handoffs', { id, limit: 2 });
  expect(listed).toMatchObject({ total: 3, items: [{ number: 3, producer: 'gemini', target: 'codex', counts: { todos: 2, notes: 1 } }, { number: 2 }] });
  expect(await t.done('cycles.handoffs', { id, before: 2 })).toMatchObject({ items: [{ number: 1 }] });
  const read = await t.done('cycles.handoff', { id, number: 3 });
  expect(read).toMatchObject({ handoff: { payload: { todos: ['b', 'c'] } }, previous: { number: 1, payload: { todos: ['a', 'b'] } } });
  expect(await t.done('cycles.handoff', { id, number: 2 })).toMatchObject({ previous: null });
  expect((await t.action('cycles.handoff', { id, number: 9 })).reply).toMatchObject({ code: 'HANDOFF_NOT_FOUND' });

  await t.handOver('gemini', codex);
  await t.done('cycles.complete', { id });
  expect(await show()).toMatchObject({ taken: [1, 2, 1, 1] });
  await t.done('cycles.archive', { id });
  await t.ok('cycle.start', { feature: 'the next one' });
  for (const name of ['cycles.complete', 'cycles.archive']) expect((await t.action(name, { id })).reply).toMatchObject({ code: 'NO_ACTIVE_CYCLE' });
  const name = t.repository.split('/').at(-1);
  expect(await t.done('cycles.list', { repo: name })).toMatchObject({ total: 2 });
  expect(await t.done('cycles.list', { repo: 'elsewhere' })).toMatchObject({ total: 0 });
});
