import { expect, test } from 'vitest';
import { workflowApp } from '../../../testing/scenes/workflow.ts';

const names = (tasks: { name: string }[]) => tasks.map(({ name }) => name);

test(`next tasks are those without open dependencies, in plan order, with their completed dependencies and group [workflow.next.shape]
  [workflow.next.task-shape] [workflow.next.actionable] [workflow.next.parallel-fields] [workflow.next.max-parallel]`, async () => {
  const { ok, planned, completed } = await workflowApp();
  const plan = [
    { name: 'z', sequence: 1, description: 'last by name' },
    { name: 'a', sequence: 1 },
    { name: 'm', sequence: 2, parallel_group: 'g', depends_on: ['z', 'a'] },
    { name: 'n', sequence: 2, parallel_group: 'g', depends_on: ['a'] },
    { name: 'o', sequence: 2, parallel_group: 'alone', depends_on: ['a'] },
  ];
  // The same names and groups in another workflow have no effect.
  await planned(plan);
  const { workflow_id, ids } = await planned(plan, { workflow: { max_parallel_tasks: 3 } });
  const first = await ok('workflow_next_tasks', { workflow_id });
  expect(names(first.tasks)).toEqual(['a', 'z']);
  expect(first.tasks[1]).toEqual({
    id: ids.z,
    name: 'z',
    description: 'last by name',
    sequence: 1,
    status: 'pending',
    can_parallelize: false,
    dependencies_completed: [],
  });
  expect(first).toMatchObject({ max_parallel: 3, recommended_count: 2, available: 2, claimed: 0, workflow_status: 'ready', all_complete: false });
  await completed(ids.a as string);
  await completed(ids.z as string);
  const { tasks } = await ok('workflow_next_tasks', { workflow_id });
  const fields = ({ name, can_parallelize, parallel_with, parallel_with_more, dependencies_completed }: Record<string, unknown>) => [
    name,
    can_parallelize,
    parallel_with,
    parallel_with_more,
    dependencies_completed,
  ];
  expect(tasks.map(fields)).toEqual([
    ['m', true, [ids.n], undefined, ['a', 'z']],
    ['n', true, [ids.m], undefined, ['a']],
    ['o', false, [], undefined, ['a']],
  ]);
});

test('failed tasks are offered again by default, in plan order [workflow.next.failed-default]', async () => {
  const { ok, planned, started } = await workflowApp();
  const { workflow_id, ids } = await planned(['a', 'b', { name: 'c', depends_on: ['a'] }]);
  const { agent_id } = await started(ids.a as string);
  await ok('task_update_status', { id: ids.a as string, status: 'failed', error: 'broken', agent_id });
  const all = await ok('workflow_next_tasks', { workflow_id });
  expect(all.tasks.map((one: Record<string, unknown>) => [one.name, one.status])).toEqual([
    ['a', 'failed'],
    ['b', 'pending'],
  ]);
  expect(await ok('workflow_next_tasks', { workflow_id, include_failed: true })).toEqual(all);
  const without = await ok('workflow_next_tasks', { workflow_id, include_failed: false });
  expect([names(without.tasks), without.available]).toEqual([['b'], 1]);
});

test('the recommended count is the smaller of available tasks and max_parallel_tasks, whatever the limit is [workflow.next.recommended]', async () => {
  const { ok, planned } = await workflowApp();
  const { workflow_id: id } = await planned(
    Array.from({ length: 7 }, (_, index) => `t${index}`),
    { workflow: { max_parallel_tasks: 5 } },
  );
  const page = await ok('workflow_next_tasks', { workflow_id: id, limit: 2 });
  expect(page).toMatchObject({ available: 7, recommended_count: 5 });
  expect(names(page.tasks)).toEqual(['t0', 't1']);
  await ok('workflow_set_parallelism', { id, max_parallel_tasks: 50 });
  expect(await ok('workflow_next_tasks', { workflow_id: id })).toMatchObject({ available: 7, recommended_count: 7 });
});

test('a claimed task is not next until its holder has been silent for 90 seconds', async () => {
  const { ok, planned, claimed, clock } = await workflowApp();
  const { workflow_id, ids } = await planned(['a', 'b']);
  await claimed(ids.a as string);
  const next = async () => {
    const { tasks, available, claimed: held } = await ok('workflow_next_tasks', { workflow_id });
    return [names(tasks), available, held];
  };
  expect(await next()).toEqual([['b'], 1, 1]);
  clock.advance(89_999);
  expect(await next()).toEqual([['b'], 1, 1]);
  // Only the time that has passed matters, not whether the sweep has run.
  clock.advance(1);
  expect(await next()).toEqual([['a', 'b'], 2, 0]);
});

test('tasks in progress and ended tasks are not next, whether claimed or not [workflow.next.actionable]', async () => {
  const { ok, planned } = await workflowApp();
  const { workflow_id, ids } = await planned(['a', 'b']);
  const seen: unknown[] = [];
  for (const status of ['planning', 'in_progress', 'paused', 'in_progress', 'failed', 'skipped']) {
    await ok('task_update_status', { id: ids.a, status, ...(status === 'failed' ? { error: 'broken' } : {}) });
    const { tasks, available } = await ok('workflow_next_tasks', { workflow_id });
    seen.push([status, names(tasks), available]);
  }
  expect(seen).toEqual([
    ['planning', ['b'], 1],
    ['in_progress', ['b'], 1],
    ['paused', ['b'], 1],
    ['in_progress', ['b'], 1],
    ['failed', ['a', 'b'], 2],
    ['skipped', ['b'], 1],
  ]);
});

test('a workflow that is neither ready nor in progress has no next tasks', async () => {
  const { ok, planned } = await workflowApp();
  const { workflow_id: id } = await planned(['a']);
  const available = async () => (await ok('workflow_next_tasks', { workflow_id: id })).available;
  const seen: unknown[] = [await available()];
  for (const status of ['in_progress', 'paused', 'in_progress', 'failed', 'in_progress', 'completed']) {
    await ok('workflow_update_status', { id, status });
    seen.push(await available());
  }
  expect(seen).toEqual([1, 1, 0, 1, 0, 1, 0]);
});

test('all_complete is true if tasks exist and each is completed or skipped [workflow.next.all-complete]', async () => {
  const { ok, planned, completed, started } = await workflowApp();
  const empty = await ok('workflow_create', { name: 'w', source_type: 'prompt', source_content: 'x', repository_path: '/srv/app' });
  expect((await ok('workflow_next_tasks', { workflow_id: empty.id })).all_complete).toBe(false);
  const { workflow_id, ids } = await planned(['a', 'b']);
  const complete = async () => [(await ok('workflow_next_tasks', { workflow_id })).all_complete, (await ok('workflow_progress', { workflow_id })).all_complete];
  await completed(ids.a as string);
  expect(await complete()).toEqual([false, false]);
  const { agent_id } = await started(ids.b as string);
  await ok('task_update_status', { id: ids.b as string, status: 'failed', error: 'broken', agent_id });
  expect(await complete()).toEqual([false, false]);
  await ok('task_update_status', { id: ids.b as string, status: 'skipped' });
  expect(await complete()).toEqual([true, true]);
  await ok('workflow_add_task', { workflow_id, name: 'c', description: '' });
  expect(await complete()).toEqual([false, false]);
});

test(`progress has counts by status, the current sequence, blocked tasks with their blockers, and the remaining work [workflow.progress.shape]
  [workflow.progress.sequences] [workflow.progress.blocked] [workflow.progress.groups] [workflow.progress.by-status] [task.blocked.computed]`, async () => {
  const { ok, refused, planned, completed, started, clock } = await workflowApp();
  const plan = [
    { name: 'a', sequence: 1 },
    { name: 'b', sequence: 3, parallel_group: 'g' },
    { name: 'c', sequence: 3, parallel_group: 'g' },
    { name: 'd', sequence: 7, depends_on: ['c', 'b', 'a'], parallel_group: 'h' },
    { name: 'e', sequence: 9, depends_on: ['d'] },
  ];
  await planned(plan);
  const { workflow_id, ids } = await planned(plan);
  expect(await ok('workflow_progress', { workflow_id })).toMatchObject({ completed_sequence: 0, current_sequence: 1, estimated_remaining_ms: null });
  await completed(ids.a as string);
  await completed(ids.b as string);
  await started(ids.c as string);
  clock.advance(60_000);
  const zero = { pending: 0, blocked: 0, planning: 0, in_progress: 0, paused: 0, completed: 0, failed: 0, skipped: 0 };
  expect(await ok('workflow_progress', { workflow_id })).toEqual({
    workflow_status: 'in_progress',
    total_tasks: 5,
    by_status: { ...zero, blocked: 2, in_progress: 1, completed: 2 },
    all_complete: false,
    completed_sequence: 1,
    current_sequence: 3,
    blocked_tasks: [
      { id: ids.d, name: 'd', blocked_by: ['c'] },
      { id: ids.e, name: 'e', blocked_by: ['d'] },
    ],
    parallel_groups: [
      { group_id: 'g', task_count: 2, completed: 1 },
      { group_id: 'h', task_count: 1, completed: 0 },
    ],
    estimated_remaining: 3,
    // Two tasks took one minute, so three tasks are expected to take a minute and a half.
    estimated_remaining_ms: 90_000,
  });
  expect(await refused('task_update_status', { id: ids.c as string, status: 'blocked' })).toMatchObject({ code: 'INVALID_TRANSITION' });
});

test('after all tasks are done, progress shows the last sequence and no remaining work', async () => {
  const { ok, planned, completed } = await workflowApp();
  const { workflow_id, ids } = await planned([
    { name: 'a', sequence: 2 },
    { name: 'b', sequence: 4 },
  ]);
  for (const id of Object.values(ids)) await completed(id);
  expect(await ok('workflow_progress', { workflow_id })).toMatchObject({
    completed_sequence: 4,
    current_sequence: 4,
    blocked_tasks: [],
    estimated_remaining: 0,
    estimated_remaining_ms: 0,
  });
});

test('a workflow without a plan has zero progress', async () => {
  const { ok } = await workflowApp();
  const { id } = await ok('workflow_create', { name: 'w', source_type: 'prompt', source_content: 'x', repository_path: '/srv/app' });
  expect(await ok('workflow_progress', { workflow_id: id })).toMatchObject({
    workflow_status: 'planning',
    total_tasks: 0,
    completed_sequence: 0,
    current_sequence: 0,
    parallel_groups: [],
  });
});

test('members of large groups and long lists of dependencies are cut at a limit, with the number of the rest', async () => {
  const { ok, planned, app, ana } = await workflowApp();
  const wall = Array.from({ length: 150 }, (_, index) => ({ name: `w${index}`, sequence: 1, parallel_group: 'wall' }));
  const { workflow_id, ids } = await planned([...wall, { name: 'gate', sequence: 2, depends_on: wall.map(({ name }) => name) }]);
  const { tasks } = await ok('workflow_next_tasks', { workflow_id, limit: 1 });
  expect(tasks[0].parallel_with).toHaveLength(100);
  expect(tasks[0].parallel_with).not.toContain(tasks[0].id);
  expect(tasks[0].parallel_with_more).toBe(49);
  const { blocked_tasks } = await ok('workflow_progress', { workflow_id });
  expect([blocked_tasks[0].blocked_by.length, blocked_tasks[0].blocked_by_more]).toEqual([100, 50]);
  const walled = wall.map(({ name }) => ids[name] as string);
  await app.store.write(ana.principal.workspace, async (tx) => {
    await tx.db.updateTable('workflow_tasks').set({ status: 'completed', outcome: 'done' }).where('id', 'in', walled).execute();
    await tx.db
      .updateTable('workflow_tasks')
      .set({ open_dependencies: 0 })
      .where('id', '=', ids.gate as string)
      .execute();
  });
  const [gate] = (await ok('workflow_next_tasks', { workflow_id })).tasks;
  expect([gate.dependencies_completed.length, gate.dependencies_completed_more]).toEqual([100, 50]);
});

test(`the dependencies of a task are listed as pending or completed, and the task is satisfied if none is pending
  [task.dependencies.shape] [task.dependencies.satisfied]`, async () => {
  const { ok, planned, completed, started } = await workflowApp();
  const { workflow_id, ids } = await planned(['a', 'b', { name: 'c', depends_on: ['a'] }, { name: 'd', depends_on: ['a', 'b', 'c'] }]);
  const check = () => ok('task_check_dependencies', { task_id: ids.d as string });
  expect(await check()).toEqual({
    satisfied: false,
    pending: [
      { id: ids.a, name: 'a', status: 'pending' },
      { id: ids.b, name: 'b', status: 'pending' },
      { id: ids.c, name: 'c', status: 'blocked' },
    ],
    completed: [],
  });
  await completed(ids.a as string);
  await completed(ids.c as string);
  const { agent_id } = await started(ids.b as string);
  await ok('task_update_status', { id: ids.b as string, status: 'failed', error: 'broken', agent_id });
  expect(await check()).toMatchObject({ satisfied: false, pending: [{ name: 'b', status: 'failed' }] });
  await ok('task_update_status', { id: ids.b as string, status: 'skipped' });
  expect(await check()).toEqual({
    satisfied: true,
    pending: [],
    completed: [
      { id: ids.a, name: 'a', outcome: 'done' },
      { id: ids.b, name: 'b', outcome: 'Skipped.' },
      { id: ids.c, name: 'c', outcome: 'done' },
    ],
  });
  expect(await ok('task_check_dependencies', { task_id: ids.a as string })).toEqual({ satisfied: true, pending: [], completed: [] });
  expect(names((await ok('workflow_next_tasks', { workflow_id })).tasks)).toEqual(['d']);
});
