import { expect, test } from 'vitest';
import { workflowApp } from '../../../testing/scenes/workflow.ts';
import { until } from '../../../testing/until.ts';

const LEASE = 90_000;
const REGISTER = { name: 'Builder', runtime: 'claude_code' };

test('registering creates a new agent, online and a worker by default [agent.register.shape] [agent.register.online] [agent.register.role-default]', async () => {
  const { ok, refused, events } = await workflowApp();
  const first = await ok('agent_register', REGISTER);
  expect(first).toMatchObject({ id: expect.stringMatching(/^ag_/), name: 'Builder', status: 'online', next_heartbeat_ms: 30_000 });
  const full = { role: 'coordinator', capabilities: ['typescript', 'testing'], workspace_path: '/home/ana/app', metadata: { pid: 7, nested: { a: [1] } } };
  const second = await ok('agent_register', { ...REGISTER, ...full });
  expect(second.id).not.toBe(first.id);
  expect(await ok('agent_get', { id: first.id })).toMatchObject({ role: 'worker', status: 'online', capabilities: [], metadata: null, workspace_path: null });
  expect(await ok('agent_get', { id: second.id })).toMatchObject({ ...full, status: 'online' });
  expect((await refused('agent_register', { ...REGISTER, role: 'boss' })).field).toBe('role');
  expect((await events({ kind: 'agent.registered' })).map(({ subject }) => subject)).toEqual([first.id, second.id]);
});

test('every documented runtime is accepted, and the refusal of any other names the field [agent.register.runtimes]', async () => {
  const { ok, refused } = await workflowApp();
  for (const runtime of ['claude_code', 'codex', 'opencode', 'custom', 'gemini', 'cursor']) {
    const { id } = await ok('agent_register', { name: 'a', runtime });
    expect((await ok('agent_get', { id })).runtime).toBe(runtime);
  }
  expect(await refused('agent_register', { name: 'a', runtime: 'emacs' })).toMatchObject({ code: 'INVALID_INPUT', field: 'runtime' });
});

test('the data that an agent stores about itself is bounded, and the refusal names the field', async () => {
  const { refused } = await workflowApp();
  const wrong: Record<string, unknown> = {
    capabilities: Array.from({ length: 51 }, (_, i) => `c${i}`),
    'capabilities[0]': ['x'.repeat(61)],
    metadata: { text: 'x'.repeat(70_000) },
    workspace_path: 'x'.repeat(1_001),
  };
  for (const [field, value] of Object.entries(wrong)) {
    expect((await refused('agent_register', { ...REGISTER, [field.replace('[0]', '')]: value })).field).toBe(field);
  }
});

test('a heartbeat keeps the agent online and returns the next interval [agent.heartbeat.shape] [agent.heartbeat.interval]', async () => {
  const { ok, refused, agent, clock, events } = await workflowApp();
  const agent_id = await agent();
  for (let beat = 0; beat < 4; beat++) {
    clock.advance(LEASE - 1);
    const answer = await ok('agent_heartbeat', { agent_id, status: beat % 2 ? 'online' : 'busy' });
    expect(answer).toEqual({ success: true, next_heartbeat_ms: 30_000, unread_count: 0, unread_by_priority: expect.any(Object), claims: [] });
    expect((await ok('agent_get', { id: agent_id })).status).toBe(beat % 2 ? 'online' : 'busy');
  }
  expect((await refused('agent_heartbeat', { agent_id, status: 'offline' })).field).toBe('status');
  const about = (await events({ category: 'work' })).filter(({ subject }) => subject === agent_id);
  expect(about.map(({ kind }) => kind)).toEqual(['agent.registered']);
});

test('after 90 seconds of silence an agent is offline, even before the sweep runs, and must register again [agent.heartbeat.offline-after]', async () => {
  const { ok, refused, agent, clock, events } = await workflowApp();
  const id = await agent();
  clock.advance(LEASE - 1);
  expect((await ok('agent_get', { id })).status).toBe('online');
  clock.advance(1);
  expect(await ok('agent_get', { id })).toMatchObject({ status: 'offline', lease_expires_at: null });
  expect(await refused('agent_heartbeat', { agent_id: id })).toMatchObject({ code: 'INVALID_STATE', field: 'agent_id' });
  expect(await refused('agent_update', { id, status: 'online' })).toMatchObject({ code: 'INVALID_STATE' });
  await expect.poll(async () => (await events({ kind: 'agent.offline' })).length).toBe(1);
  clock.advance(LEASE);
  expect((await events({ kind: 'agent.offline' }))[0]).toMatchObject({ actor: 'server', subject: id, payload: { reason: 'silent', tasks_released: 0 } });
  expect(await refused('agent_heartbeat', { agent_id: id })).toMatchObject({ code: 'INVALID_STATE' });
});

test('two servers that sweep at the same time record the silence of an agent only once', async () => {
  const here = await workflowApp();
  const id = await here.agent();
  const there = await workflowApp({ database: here.database, clock: here.clock });
  here.clock.advance(LEASE);
  await expect.poll(async () => (await here.events({ kind: 'agent.offline' })).length).toBe(1);
  here.clock.advance(1);
  await there.ok('agent_list', {});
  expect((await here.events({ kind: 'agent.offline' })).map(({ subject }) => subject)).toEqual([id]);
});

test('an update changes only the given fields and counts as a heartbeat [agent.update.shape]', async () => {
  const { ok, refused, agent, clock } = await workflowApp();
  const id = await agent();
  clock.advance(LEASE - 1);
  expect(await ok('agent_update', { id, status: 'busy', workspace_path: '/w', metadata: { a: 1 }, current_task_id: null })).toEqual({ success: true });
  clock.advance(LEASE - 1);
  expect(await ok('agent_get', { id })).toMatchObject({ status: 'busy', workspace_path: '/w', metadata: { a: 1 }, current_task_id: null });
  await ok('agent_update', { id, metadata: { b: 2 } });
  expect((await ok('agent_get', { id })).metadata).toEqual({ b: 2 });
  expect((await refused('agent_update', { id, state: 'busy' })).field).toBe('state');
});

test('an agent that an update sets offline stays offline, as after unregistering, and must register again', async () => {
  const { ok, refused, agent, events } = await workflowApp();
  const id = await agent();
  expect(await ok('agent_update', { id, status: 'offline' })).toEqual({ success: true, tasks_released: 0 });
  expect(await ok('agent_update', { id, status: 'offline' })).toEqual({ success: true, tasks_released: 0 });
  for (const status of ['online', 'busy', undefined]) expect(await refused('agent_update', { id, status })).toMatchObject({ code: 'INVALID_STATE' });
  expect(await refused('agent_heartbeat', { agent_id: id })).toMatchObject({ code: 'INVALID_STATE' });
  expect(await events({ kind: 'agent.offline' })).toHaveLength(1);
});

test('an unregistered agent stays stored, offline, and unregistering again changes nothing [agent.unregister.shape] [agent.unregister.offline]', async () => {
  const { ok, agent, events } = await workflowApp();
  const id = await agent();
  expect(await ok('agent_unregister', { id })).toEqual({ success: true, tasks_released: 0 });
  expect(await ok('agent_unregister', { id })).toEqual({ success: true, tasks_released: 0 });
  expect(await ok('agent_get', { id })).toMatchObject({ id, status: 'offline', lease_expires_at: null });
  expect((await ok('agent_list', { status: ['offline'] })).agents).toHaveLength(1);
  expect(await events({ kind: 'agent.unregistered' })).toHaveLength(1);
});

test('the refusal of a missing agent names the field that contained its id', async () => {
  const { refused } = await workflowApp();
  for (const [tool, field] of [
    ['agent_get', 'id'],
    ['agent_update', 'id'],
    ['agent_unregister', 'id'],
    ['agent_heartbeat', 'agent_id'],
  ] as const) {
    expect(await refused(tool, { [field]: 'ag_none' })).toMatchObject({ code: 'AGENT_NOT_FOUND', field });
  }
});

test("nobody can act as another developer's agent, and two tokens of one developer share their agents [agent.identity.foreign-refused]", async () => {
  const { ok, refused, agent, ana, ben, operator, developer, tool, planned, claimed, task } = await workflowApp();
  const id = await agent(ana);
  const { ids } = await planned(['free', 'held']);
  await claimed(ids.held as string, ana, id);
  const calls = {
    agent_heartbeat: { agent_id: id },
    agent_update: { id, status: 'offline' },
    agent_unregister: { id },
    task_claim: { task_id: ids.free, agent_id: id },
    task_release: { task_id: ids.held, agent_id: id },
    checkpoint_add: { task_id: ids.free, type: 'progress', summary: 's', agent_id: id },
  };
  for (const [name, args] of Object.entries(calls)) expect(await refused(name, args, ben), name).toMatchObject({ code: 'FOREIGN_AGENT' });
  expect(await task(ids.free as string)).toMatchObject({ assigned_agent_id: null, checkpoint_count: 0 });
  expect(await task(ids.held as string)).toMatchObject({ assigned_agent_id: id });
  expect((await tool('agent_unregister', { id }, operator)).isError).toBe(true);
  await ok('agent_heartbeat', { agent_id: id }, await developer('ana', 'codex'));
  expect((await ok('agent_get', { id })).status).toBe('busy');
});

test('the agent list applies every filter, filters by the shown status, and has pages [agent.list.shape] [agent.list.filters] [agent.get.shape]', async () => {
  const { ok, agent, clock, ana, ben } = await workflowApp();
  const silent = await agent(ana, { runtime: 'codex' });
  clock.advance(LEASE - 1);
  const [worker, lead, busy] = [await agent(ana, { runtime: 'codex' }), await agent(ben, { role: 'coordinator' }), await agent(ben, { runtime: 'codex' })];
  await ok('agent_heartbeat', { agent_id: busy, status: 'busy' }, ben);
  clock.advance(1);
  const ids = async (args: object) => (await ok('agent_list', args)).agents.map(({ id }: { id: string }) => id);
  expect(await ids({})).toEqual([busy, lead, worker, silent]);
  expect(await ids({ status: ['offline'] })).toEqual([silent]);
  expect(await ids({ status: ['online'] })).toEqual([lead, worker]);
  expect(await ids({ status: ['busy', 'offline'] })).toEqual([busy, silent]);
  expect(await ids({ status: ['online', 'busy'], runtime: 'codex' })).toEqual([busy, worker]);
  expect(await ids({ role: 'coordinator' })).toEqual([lead]);
  expect(await ids({ role: 'coordinator', runtime: 'codex' })).toEqual([]);
  expect(await ids({ runtime: 'unheard-of' })).toEqual([]);
  expect(await ok('agent_list', { limit: 2, offset: 1 })).toMatchObject({ total: 4, agents: [{ id: lead }, { id: worker }] });
  const listed = (await ok('agent_list', { role: 'coordinator' })).agents[0];
  expect(listed).toEqual(await ok('agent_get', { id: lead }));
  expect(listed).toMatchObject({ name: 'worker', developer: 'ben', mine: false, registered_at: clock.now() - 1, lease_expires_at: clock.now() - 1 + LEASE });
});

test("a private developer's agent does not reveal its owner to others", async () => {
  const { ok, agent, app, ana, ben } = await workflowApp();
  const id = await agent(ben, { name: "Ben's laptop", workspace_path: '/home/ben/app', metadata: { host: 'ben' } });
  await app.store.write(ben.principal.workspace, async (tx) => {
    await tx.db.updateTable('developers').set({ visibility: 'private' }).where('name', '=', 'ben').execute();
  });
  const seen = await ok('agent_get', { id }, ana);
  expect(seen).toMatchObject({ name: '@private', developer: '@private', workspace_path: null, metadata: null, mine: false });
  expect(JSON.stringify(await ok('agent_list', {}, ana))).not.toContain('ben');
  expect(await ok('agent_get', { id }, ben)).toMatchObject({ name: "Ben's laptop", developer: 'ben', mine: true, metadata: { host: 'ben' } });
});

test('an agent that is offline for longer than the retention time is deleted; an agent that was seen later is not', async () => {
  const { ok, refused, agent, done, clock, ana } = await workflowApp();
  const gone = await agent(ana);
  await done('settings.set', { key: 'retention.days', value: 31 });
  const DAY_MS = 86_400_000;
  clock.advance(20 * DAY_MS);
  const seen = await agent(ana);
  clock.advance(20 * DAY_MS);
  await until(async () => {
    clock.advance(3_600_000);
    expect((await ok('agent_list', {})).agents.map(({ id }: { id: string }) => id)).toEqual([seen]);
  });
  expect((await refused('agent_heartbeat', { agent_id: gone }, ana)).code).toBe('AGENT_NOT_FOUND');
});
