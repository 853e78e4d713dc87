import { expect, test } from 'vitest';
import { type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';

const namesFor = async ({ ok }: WorkflowApp, agent_id: string, args: object = {}) =>
  (await ok('task_get_available', { agent_id, ...args })).tasks.map(({ name }: { name: string }) => name);

test('an agent is offered the unclaimed, unblocked tasks of running workflows, oldest first [task.available.shape] [task.available.unclaimed] [task.available.workflow-filter]', async () => {
  const app = await workflowApp();
  const { ok, refused, planned, agent, started, claimed } = app;
  const first = await planned([
    { name: 'z', sequence: 1 },
    { name: 'b', sequence: 2 },
    { name: 'a', sequence: 2 },
    { name: 'later', sequence: 3, depends_on: ['z'] },
  ]);
  app.clock.advance(1);
  const second = await planned([{ name: 'other', sequence: 0 }]);
  const waiting = await planned(['unheard of']);
  await ok('workflow_update_status', { id: waiting.workflow_id, status: 'abandoned' });
  const me = await agent();
  expect(await namesFor(app, me)).toEqual(['z', 'a', 'b', 'other']);
  expect(await namesFor(app, me, { workflow_id: second.workflow_id })).toEqual(['other']);
  expect(await namesFor(app, me, { workflow_id: waiting.workflow_id })).toEqual([]);
  expect(await namesFor(app, me, { limit: 2 })).toEqual(['z', 'a']);
  const { agent_id } = await started(first.ids.z as string);
  await claimed(first.ids.a as string);
  expect(await namesFor(app, me)).toEqual(['b', 'other']);
  await ok('task_update_status', { id: first.ids.z, status: 'failed', error: 'no', agent_id });
  const { tasks } = await ok('task_get_available', { agent_id: me, limit: 1 });
  expect(tasks).toEqual([await app.task(first.ids.z as string)]);
  await ok('workflow_update_status', { id: first.workflow_id, status: 'paused' });
  expect(await namesFor(app, me)).toEqual(['other']);
  expect(await refused('task_get_available', { agent_id: me, workflow_id: 'wf_none' })).toMatchObject({ code: 'WORKFLOW_NOT_FOUND', field: 'workflow_id' });
  expect(await refused('task_get_available', { agent_id: me }, app.ben)).toMatchObject({ code: 'FOREIGN_AGENT' });
});

test('a workflow at its parallel limit does not hide the tasks of other workflows', async () => {
  const app = await workflowApp();
  const old = await app.planned(['o1', 'o2', 'o3'], { workflow: { max_parallel_tasks: 1 } });
  app.clock.advance(1);
  await app.planned(['n1', 'n2']);
  const me = await app.agent();
  const { agent_id } = await app.claimed(old.ids.o1 as string);
  expect(await namesFor(app, me)).toEqual(['n1', 'n2', 'o2', 'o3']);
  expect(await namesFor(app, me, { limit: 1 })).toEqual(['n1']);
  expect(await namesFor(app, me, { limit: 3 })).toEqual(['n1', 'n2', 'o2']);
  expect(await namesFor(app, me, { workflow_id: old.workflow_id })).toEqual(['o2', 'o3']);
  await app.ok('task_release', { task_id: old.ids.o1, agent_id });
  expect(await namesFor(app, me)).toEqual(['o1', 'o2', 'o3', 'n1', 'n2']);
});

test('a task that needs capabilities is offered only to agents that have all of them [task.available.capabilities]', async () => {
  const app = await workflowApp();
  await app.planned([
    { name: 'any' },
    { name: 'ts', capabilities: ['typescript'] },
    { name: 'both', capabilities: ['typescript', 'testing'] },
    { name: 'py', capabilities: ['python'] },
  ]);
  expect(await namesFor(app, await app.agent())).toEqual(['any']);
  expect(await namesFor(app, await app.agent(app.ana, { capabilities: ['typescript'] }))).toEqual(['any', 'ts']);
  expect(await namesFor(app, await app.agent(app.ana, { capabilities: ['testing', 'go', 'typescript'] }))).toEqual(['any', 'ts', 'both']);
});

test('an agent is offered the few tasks that it can do, even behind many tasks for other agents', async () => {
  const app = await workflowApp();
  const tasks = Array.from({ length: 1_500 }, (_, i) => ({ name: `py ${i}`, sequence: i % 7, capabilities: ['python'] }));
  await app.planned([...tasks, { name: 'mine', sequence: 9, capabilities: ['go'] }, { name: 'mine too', sequence: 8 }]);
  expect(await namesFor(app, await app.agent(app.ana, { capabilities: ['go'] }))).toEqual(['mine too', 'mine']);
  const all = await namesFor(app, await app.agent(app.ana, { capabilities: ['python'] }), { limit: 200 });
  expect(new Set(all).size).toBe(200);
});
