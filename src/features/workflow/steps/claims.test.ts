import { expect, test } from 'vitest';
import { testClock } from '../../../testing/clock.ts';
import { type Body, workflowApp } from '../../../testing/scenes/workflow.ts';

const LEASE = 90_000;
const PLAN = { approach: 'a', steps: [] };

test('a claim is a lease with a fence, and the same agent may claim the task again [task.claim.shape] [task.claim.lease]', async () => {
  const { ok, planned, agent, clock, task, events } = await workflowApp();
  const { workflow_id, ids } = await planned(['one']);
  const agent_id = await agent();
  clock.advance(1_000);
  const first = await ok('task_claim', { task_id: ids.one, agent_id });
  expect(first).toEqual({ success: true, fence: 1, lease_expires_at: clock.now() + LEASE });
  expect(await task(ids.one as string)).toMatchObject({ status: 'pending', assigned_agent_id: agent_id, claimed_at: clock.now(), fence: 1 });
  expect(await ok('agent_get', { id: agent_id })).toMatchObject({ status: 'busy', current_task_id: ids.one, lease_expires_at: first.lease_expires_at });
  clock.advance(5_000);
  expect(await ok('task_claim', { task_id: ids.one, agent_id })).toEqual({ success: true, fence: 1, lease_expires_at: clock.now() + LEASE });
  expect(await events({ kind: 'workflow.task_claimed' })).toMatchObject([{ subject: ids.one, payload: { workflow_id, agent_id, fence: 1 } }]);
});

test('a heartbeat renews every claim of its agent, and returns them [agent.heartbeat.renews-claims] [task.claim.lease]', async () => {
  const { ok, refused, planned, claimed, agent, clock, task } = await workflowApp();
  const { ids } = await planned(['one', 'two', 'three']);
  const agent_id = await agent();
  for (const name of ['one', 'two']) await claimed(ids[name] as string, undefined, agent_id);
  for (let beat = 0; beat < 5; beat++) {
    clock.advance(LEASE - 1);
    const { claims } = await ok('agent_heartbeat', { agent_id, current_task_id: ids.two, status: 'busy' });
    expect(claims).toEqual(['one', 'two'].map((name) => ({ task_id: ids[name], fence: 1, lease_expires_at: clock.now() + LEASE })));
  }
  expect((await task(ids.one as string)).assigned_agent_id).toBe(agent_id);
  expect((await ok('agent_get', { id: agent_id })).current_task_id).toBe(ids.two);
  expect(await refused('agent_heartbeat', { agent_id, current_task_id: ids.three })).toMatchObject({ code: 'NOT_ASSIGNED', field: 'current_task_id' });
  expect(await refused('agent_update', { id: agent_id, current_task_id: ids.three })).toMatchObject({ code: 'NOT_ASSIGNED' });
  await ok('agent_update', { id: agent_id, current_task_id: null });
  expect(await ok('agent_get', { id: agent_id })).toMatchObject({ current_task_id: null, status: 'busy' });
});

test('if many agents claim one task at the same time, one gets it, and the others get the id of that agent [task.claim.atomic] [task.claim.taken]', async () => {
  const { tool, planned, agent, ana, ben, task } = await workflowApp();
  const { ids } = await planned(['one']);
  const callers = Array.from({ length: 24 }, (_, i) => (i % 2 ? ana : ben));
  const agents = await Promise.all(callers.map((caller) => agent(caller)));
  const answers = await Promise.all(agents.map((agent_id, i) => tool('task_claim', { task_id: ids.one, agent_id }, callers[i] as typeof ana)));
  const bodies = answers.map(({ body, isError }): Body => ({ ...body, isError }));
  expect(bodies.filter(({ success }) => success)).toHaveLength(1);
  const holder = (await task(ids.one as string)).assigned_agent_id;
  expect(bodies.findIndex(({ success }) => success)).toBe(agents.indexOf(holder));
  for (const body of bodies.filter(({ success }) => !success)) expect(body).toEqual({ success: false, already_claimed_by: holder, isError: false });
});

test('two servers on one database give each task to only one agent', async () => {
  const here = await workflowApp();
  const there = await workflowApp({ database: here.database, clock: here.clock });
  const { ids } = await here.planned(Array.from({ length: 12 }, (_, i) => `task ${i}`));
  const mine = await Promise.all(Array.from({ length: 4 }, () => here.agent()));
  const theirs = await Promise.all(Array.from({ length: 4 }, () => there.agent(there.ben)));
  const claims = Object.values(ids).flatMap((task_id) => [
    ...mine.map(async (agent_id) => ({ task_id, agent_id, ...(await here.ok('task_claim', { task_id, agent_id })) })),
    ...theirs.map(async (agent_id) => ({ task_id, agent_id, ...(await there.ok('task_claim', { task_id, agent_id }, there.ben)) })),
  ]);
  const won = (await Promise.all(claims)).filter(({ success }) => success);
  expect(won.map(({ task_id }) => task_id).sort()).toEqual(Object.values(ids).sort());
  for (const { task_id, agent_id } of won) expect((await there.task(task_id)).assigned_agent_id).toBe(agent_id);
});

test('the claims of a silent agent are released with an event, and its started tasks can be claimed by others [task.claim.silent-agent-released] [task.claim.release-event]', async () => {
  const { ok, planned, started, claimed, agent, ben, clock, task, events } = await workflowApp();
  const { ids } = await planned(['one', 'two']);
  const begun = ids.one as string;
  const { agent_id } = await started(begun);
  await claimed(ids.two as string, undefined, agent_id);
  const other = await agent(ben);
  clock.advance(LEASE - 1);
  await ok('agent_heartbeat', { agent_id: other }, ben);
  expect(await ok('task_claim', { task_id: begun, agent_id: other }, ben)).toEqual({ success: false, already_claimed_by: agent_id });
  clock.advance(1);
  await expect.poll(async () => (await task(begun)).assigned_agent_id).toBe(null);
  expect(await task(begun)).toMatchObject({ status: 'pending', claimed_at: null, fence: 2 });
  expect(await task(ids.two as string)).toMatchObject({ status: 'pending', assigned_agent_id: null, fence: 2, checkpoint_count: 0 });
  expect((await ok('checkpoint_list', { task_id: begun })).checkpoints).toMatchObject([{ type: 'recovery', agent_id, detail: { from: 'in_progress' } }]);
  const released = await events({ kind: 'workflow.task_released' });
  expect(released.map(({ subject }) => subject).sort()).toEqual(Object.values(ids).sort());
  expect(released[0]).toMatchObject({ actor: 'server', payload: { agent_id, reason: 'agent silent', fence: 2 } });
  expect(await events({ kind: 'agent.offline' })).toMatchObject([{ subject: agent_id, payload: { tasks_released: 2 } }]);
  expect(await ok('task_claim', { task_id: begun, agent_id: other }, ben)).toMatchObject({ success: true, fence: 3 });
});

test('after 90 seconds of silence, an agent loses its claims and its parallel slots even before the sweep runs', async () => {
  // No sweep runs in this test, because the clock of the test runs no timers.
  const clock = { ...testClock(), every: () => () => undefined };
  const { ok, refused, planned, started, agent, ben, task, events, ana } = await workflowApp({ clock });
  const { ids } = await planned(['one', 'two', 'three'], { workflow: { max_parallel_tasks: 2 } });
  const [one, two, three] = [ids.one as string, ids.two as string, ids.three as string];
  const { agent_id } = await started(one);
  await ok('task_claim', { task_id: two, agent_id });
  clock.advance(LEASE - 1);
  const other = await agent(ben);
  expect(await ok('task_claim', { task_id: one, agent_id: other }, ben)).toEqual({ success: false, already_claimed_by: agent_id });
  expect(await refused('task_claim', { task_id: three, agent_id: other }, ben)).toMatchObject({ code: 'PARALLEL_LIMIT' });
  expect((await ok('task_get_available', { agent_id: other }, ben)).tasks).toMatchObject([{ id: three }]);
  clock.advance(1);
  expect((await ok('task_get_available', { agent_id: other }, ben)).tasks).toMatchObject([{ id: two }, { id: three }]);
  expect(await refused('task_update_status', { id: one, status: 'completed', outcome: 'late', agent_id }, ana)).toMatchObject({ code: 'STALE_CLAIM' });
  expect(await ok('task_claim', { task_id: three, agent_id: other }, ben)).toMatchObject({ success: true });
  expect(await task(one)).toMatchObject({ status: 'pending', assigned_agent_id: null });
  expect(await ok('task_claim', { task_id: one, agent_id: other }, ben)).toMatchObject({ success: true, fence: 3 });
  expect(await events({ kind: 'agent.offline' })).toMatchObject([{ subject: agent_id, payload: { tasks_released: 2 } }]);
});

test('only the holder can write to a claimed task, with any writing tool [task.claim.holder-only]', async () => {
  const { ok, refused, planned, started, agent, ana, ben, developer, task } = await workflowApp();
  const { ids } = await planned(['one']);
  const id = ids.one as string;
  const { agent_id } = await started(id, ana);
  const [sibling, foreign] = [await agent(ana), await agent(ben)];
  const writes: Record<string, object> = {
    task_update_status: { id, status: 'paused' },
    task_replan: { id, reason: 'r', new_plan: PLAN },
    task_set_plan: { id, plan: PLAN },
    checkpoint_add: { task_id: id, type: 'progress', summary: 's' },
  };
  const before = await task(id);
  for (const [tool, args] of Object.entries(writes)) {
    expect(await refused(tool, args, ben), tool).toMatchObject({ code: 'NOT_ASSIGNED', assigned_agent_id: agent_id });
    expect(await refused(tool, { ...args, agent_id: foreign }, ben), tool).toMatchObject({ code: 'NOT_ASSIGNED' });
    expect(await refused(tool, { ...args, agent_id: sibling }, ana), tool).toMatchObject({ code: 'NOT_ASSIGNED' });
    expect(await refused(tool, { ...args, agent_id }, ben), tool).toMatchObject({ code: 'FOREIGN_AGENT' });
  }
  expect(await refused('task_release', { task_id: id, agent_id: sibling }, ana)).toMatchObject({ code: 'NOT_ASSIGNED' });
  expect(await task(id)).toEqual(before);
  // A call with another token of the same developer must send the `agent_id`. With the token that registered the agent, the server finds the agent by
  // that token.
  const elsewhere = await developer('ana');
  expect(await refused('checkpoint_add', { task_id: id, type: 'progress', summary: 's' }, elsewhere)).toMatchObject({ code: 'NOT_ASSIGNED' });
  await ok('checkpoint_add', { task_id: id, type: 'progress', summary: 's', agent_id }, elsewhere);
  await ok('checkpoint_add', { task_id: id, type: 'progress', summary: 's' }, ana);
});

test('a write with the fence of an earlier claim is refused [task.claim.stale-fence]', async () => {
  const { ok, refused, planned, started, task } = await workflowApp();
  const { ids } = await planned(['one']);
  const id = ids.one as string;
  const old = await started(id);
  await ok('task_release', { task_id: id, agent_id: old.agent_id, fence: old.fence });
  const again = await ok('task_claim', { task_id: id, agent_id: old.agent_id });
  expect(again.fence).toBeGreaterThan(old.fence);
  for (const [tool, args] of Object.entries({
    task_update_status: { id, status: 'planning' },
    task_replan: { id, reason: 'r', new_plan: PLAN },
    task_set_plan: { id, plan: PLAN },
    checkpoint_add: { task_id: id, type: 'progress', summary: 's' },
    task_release: { task_id: id },
  })) {
    const refusal = await refused(tool, { ...args, agent_id: old.agent_id, fence: old.fence });
    expect(refusal, tool).toMatchObject({ code: 'STALE_CLAIM', field: 'fence', current_fence: again.fence });
  }
  await ok('task_update_status', { id, status: 'planning', agent_id: old.agent_id, fence: again.fence });
  expect((await task(id)).status).toBe('planning');
});

test('an agent that was silent too long or unregistered cannot write, with its old fence or without one', async () => {
  for (const goes of ['silent', 'unregistered']) {
    const { ok, refused, planned, started, clock, task } = await workflowApp();
    const { ids } = await planned(['one']);
    const id = ids.one as string;
    const { agent_id, fence } = await started(id);
    if (goes === 'silent') clock.advance(LEASE);
    else await ok('agent_unregister', { id: agent_id });
    await expect.poll(async () => (await task(id)).assigned_agent_id).toBe(null);
    const before = await task(id);
    for (const [tool, args] of Object.entries({
      task_update_status: { id, status: 'planning' },
      checkpoint_add: { task_id: id, type: 'progress', summary: 's' },
    })) {
      expect(await refused(tool, { ...args, agent_id }), tool).toMatchObject({ code: 'STALE_CLAIM', field: 'agent_id' });
      expect(await refused(tool, { ...args, agent_id, fence }), tool).toMatchObject({ code: 'STALE_CLAIM', field: 'fence' });
    }
    expect(await task(id)).toEqual(before);
  }
});

test('an offline agent may repeat a call that it made in time, because the answer may have been lost', async () => {
  const { ok, planned, started, clock, agent } = await workflowApp();
  const { ids } = await planned(['one', 'two']);
  const agent_id = await agent();
  const done = { ...(await started(ids.one as string, undefined, agent_id)), status: 'completed', outcome: 'done' };
  const failed = { ...(await started(ids.two as string, undefined, agent_id)), status: 'failed', error: 'no' };
  const say = ({ task_id: id, ...rest }: typeof done | typeof failed, fenced: boolean) => {
    const { fence, ...unfenced } = rest;
    return ok('task_update_status', { id, ...unfenced, ...(fenced ? { fence } : {}) });
  };
  await say(done, true);
  await say(failed, true);
  clock.advance(LEASE);
  await expect.poll(async () => (await ok('agent_get', { id: agent_id })).status).toBe('offline');
  expect([await say(done, true), await say(done, false), await say(failed, true)]).toMatchObject([{ changed: false }, { changed: false }, { changed: false }]);
});

test('every write of the holder renews its lease', async () => {
  const { ok, planned, started, clock, task } = await workflowApp();
  const { ids } = await planned(['one']);
  const id = ids.one as string;
  const { agent_id } = await started(id);
  for (const status of ['paused', 'in_progress', 'paused', 'in_progress']) {
    clock.advance(LEASE - 1);
    await ok('task_update_status', { id, status, agent_id });
  }
  expect((await task(id)).assigned_agent_id).toBe(agent_id);
});

test('a failed task can be claimed again, by its last holder or by another agent [task.claim.failed-claimable]', async () => {
  const { ok, planned, started, agent, ben, task } = await workflowApp();
  const { ids } = await planned(['one']);
  const id = ids.one as string;
  const { agent_id, fence } = await started(id);
  await ok('task_update_status', { id, status: 'failed', error: 'no', agent_id, fence });
  const other = await agent(ben);
  expect(await ok('task_claim', { task_id: id, agent_id: other }, ben)).toMatchObject({ success: true, fence: fence + 1 });
  expect((await task(id)).status).toBe('failed');
  await ok('task_release', { task_id: id, agent_id: other }, ben);
  expect(await task(id)).toMatchObject({ status: 'failed', error: 'no', checkpoint_count: 1 });
  expect(await ok('task_claim', { task_id: id, agent_id })).toMatchObject({ success: true });
});

test('a claim is refused if the task is finished, its workflow is not running, or the parallel limit is reached [workflow.create.parallel-default]', async () => {
  const { ok, refused, planned, completed, claimed, agent } = await workflowApp();
  const { workflow_id, ids } = await planned(['one', 'two', 'three'], { workflow: { max_parallel_tasks: 1 } });
  // Claims in other workflows do not count here.
  await claimed((await planned(['elsewhere'])).ids.elsewhere as string);
  await completed(ids.one as string);
  const agent_id = await agent();
  expect(await refused('task_claim', { task_id: ids.one, agent_id })).toMatchObject({ code: 'INVALID_STATE', status: 'completed' });
  const held = await claimed(ids.two as string);
  const refusal = await refused('task_claim', { task_id: ids.three, agent_id });
  expect(refusal).toMatchObject({ code: 'PARALLEL_LIMIT', max_parallel_tasks: 1, claimed: 1 });
  // The limit also applies to a second task of the same agent, but the agent may claim its own task again.
  expect(await refused('task_claim', { task_id: ids.three, agent_id: held.agent_id })).toMatchObject({ code: 'PARALLEL_LIMIT' });
  await ok('task_claim', { task_id: ids.two, agent_id: held.agent_id });
  await ok('workflow_set_parallelism', { id: workflow_id, max_parallel_tasks: 2 });
  await ok('workflow_update_status', { id: workflow_id, status: 'paused' });
  expect(await refused('task_claim', { task_id: ids.three, agent_id })).toMatchObject({ code: 'INVALID_STATE', status: 'paused' });
  await ok('workflow_update_status', { id: workflow_id, status: 'in_progress' });
  expect(await ok('task_claim', { task_id: ids.three, agent_id })).toMatchObject({ success: true });
  await ok('agent_unregister', { id: agent_id });
  expect(await refused('task_claim', { task_id: ids.three, agent_id })).toMatchObject({ code: 'INVALID_STATE', field: 'agent_id' });
});

test('a released task keeps plan and checkpoints and can be claimed again [task.release.shape] [task.release.claimable]', async () => {
  const { ok, refused, planned, claimed, agent, ben, task, events } = await workflowApp();
  const { ids } = await planned(['one', 'two', 'three']);
  const id = ids.one as string;
  const { agent_id, fence } = await claimed(id);
  await claimed(ids.two as string, undefined, agent_id);
  const bystander = await claimed(ids.three as string, ben);
  await ok('task_update_status', { id, status: 'planning', agent_id });
  await ok('task_set_plan', { id, plan: PLAN, agent_id });
  await ok('checkpoint_add', { task_id: id, type: 'progress', summary: 'begun', agent_id });
  expect(await ok('task_release', { task_id: id, agent_id, reason: 'Lunch' })).toEqual({ success: true });
  expect(await task(id)).toMatchObject({ status: 'pending', plan: PLAN, assigned_agent_id: null, fence: fence + 1, checkpoint_count: 2 });
  expect((await ok('checkpoint_list', { task_id: id, type: ['recovery'] })).checkpoints[0].summary).toContain('Lunch');
  expect(await events({ kind: 'workflow.task_released' })).toMatchObject([{ subject: id, payload: { reason: 'Lunch', from: 'planning', to: 'pending' } }]);
  // The agent holds another task, so it is still busy.
  expect(await ok('agent_get', { id: agent_id })).toMatchObject({ status: 'busy' });
  await ok('task_release', { task_id: ids.two, agent_id });
  expect(await ok('agent_get', { id: agent_id })).toMatchObject({ status: 'online', current_task_id: null });
  expect(await ok('agent_get', { id: bystander.agent_id })).toMatchObject({ status: 'busy', current_task_id: ids.three });
  expect(await refused('task_release', { task_id: id, agent_id })).toMatchObject({ code: 'NOT_CLAIMED' });
  expect(await ok('task_claim', { task_id: id, agent_id: await agent(ben) }, ben)).toMatchObject({ success: true });
});

test('an agent that leaves releases all its claims and gets their number', async () => {
  for (const [tool, args] of [
    ['agent_unregister', {}],
    ['agent_update', { status: 'offline' }],
  ] as const) {
    const { ok, planned, started, claimed, task } = await workflowApp();
    const { ids } = await planned(['one', 'two']);
    const { agent_id } = await started(ids.one as string);
    await claimed(ids.two as string, undefined, agent_id);
    expect(await ok(tool, { id: agent_id, ...args })).toEqual({ success: true, tasks_released: 2 });
    expect(await task(ids.one as string)).toMatchObject({ status: 'pending', assigned_agent_id: null, fence: 2, checkpoint_count: 1 });
    expect(await task(ids.two as string)).toMatchObject({ status: 'pending', assigned_agent_id: null, fence: 2, checkpoint_count: 0 });
    expect(await ok('agent_get', { id: agent_id })).toMatchObject({ status: 'offline', current_task_id: null });
  }
});

test('a task that waits for a person keeps waiting if its agent leaves, and cannot be claimed meanwhile', async () => {
  const { ok, refused, planned, started, agent, task } = await workflowApp();
  const { ids } = await planned(['one']);
  const id = ids.one as string;
  const { agent_id } = await started(id);
  await ok('message_send', { sender_id: agent_id, recipient_id: 'human', message_type: 'query', body: 'Which one?', task_id: id });
  expect(await task(id)).toMatchObject({ status: 'paused', question_id: expect.any(String) });
  expect(await refused('task_update_status', { id, status: 'in_progress', agent_id })).toMatchObject({ code: 'AWAITING_ANSWER' });
  await ok('agent_unregister', { id: agent_id });
  expect(await task(id)).toMatchObject({ status: 'paused', assigned_agent_id: null, question_id: expect.any(String) });
  const other = await agent();
  expect((await ok('task_get_available', { agent_id: other })).tasks).toEqual([]);
  expect(await refused('task_claim', { task_id: id, agent_id: other })).toMatchObject({ code: 'AWAITING_ANSWER' });
});
