import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';

async function graph({ ok }: WorkflowApp, id: string): Promise<Record<string, [string, string[]]>> {
  const { tasks } = await ok('workflow_get', { id, include_tasks: true });
  return Object.fromEntries(tasks.map((task: { name: string; status: string; depends_on: string[] }) => [task.name, [task.status, task.depends_on]]));
}

test('a task that is added after another depends on it and is one step later, unless a sequence is given', async () => {
  const app = await workflowApp();
  const { workflow_id, ids } = await app.planned([
    { name: 'a', sequence: 5 },
    { name: 'b', sequence: 9 },
  ]);
  const added = await app.ok('workflow_add_task', { workflow_id, name: 'a2', description: 'more', after: 'a', files_likely_affected: ['src/x.ts'] });
  expect(added).toEqual({ task_id: expect.stringMatching(/^tk_/), workflow_id, sequence: 6, status: 'blocked' });
  expect(await app.ok('workflow_add_task', { workflow_id, name: 'a3', description: '', after: ids.a, sequence: 40 })).toMatchObject({ sequence: 40 });
  expect(await app.ok('workflow_add_task', { workflow_id, name: 'end', description: '', parallel_group: 'g' })).toMatchObject({
    sequence: 41,
    status: 'pending',
  });
  expect(await graph(app, workflow_id)).toEqual({
    a: ['pending', []],
    b: ['pending', []],
    a2: ['blocked', ['a']],
    a3: ['blocked', ['a']],
    end: ['pending', []],
  });
  const events = await app.events({ kind: 'workflow.task_added' });
  expect(events.map(({ subject, payload }) => [subject, payload.workflow_id, payload.name])).toContainEqual([added.task_id, workflow_id, 'a2']);
});

test('a task can be inserted between others, and the tasks that it blocks then wait for it', async () => {
  const app = await workflowApp();
  const { workflow_id, ids } = await app.planned(['a', { name: 'b', depends_on: ['a'] }, 'c']);
  await app.completed(ids.a as string);
  const args = { workflow_id, name: 'between', description: '', depends_on: ['a'], blocks: ['b', ids.c, 'b'] };
  expect(await app.ok('workflow_add_task', args)).toMatchObject({ status: 'pending' });
  expect(await graph(app, workflow_id)).toEqual({
    a: ['completed', []],
    b: ['blocked', ['a', 'between']],
    c: ['blocked', ['between']],
    between: ['pending', ['a']],
  });
});

test('a new task is refused if its name is taken, its neighbours are unknown, it closes a cycle, or it would block started work', async () => {
  const app = await workflowApp();
  const { workflow_id, ids } = await app.planned(['a', { name: 'b', depends_on: ['a'] }, { name: 'c', depends_on: ['b'] }, 'held', 'done']);
  const held = await app.claimed(ids.held as string);
  await app.completed(ids.done as string);
  const before = await graph(app, workflow_id);
  const cases: [object, object][] = [
    [{ name: 'b' }, { code: 'DUPLICATE_TASK_NAME', field: 'name' }],
    [{ after: 'ghost' }, { code: 'UNKNOWN_DEPENDENCY', field: 'after', message: expect.stringContaining('"ghost"') }],
    [{ depends_on: ['a', 'ghost'] }, { code: 'UNKNOWN_DEPENDENCY', field: 'depends_on' }],
    [{ blocks: ['ghost'] }, { code: 'UNKNOWN_DEPENDENCY', field: 'blocks' }],
    [{ depends_on: ['new'] }, { code: 'SELF_DEPENDENCY', field: 'depends_on' }],
    [
      { after: 'c', blocks: ['a'] },
      { code: 'DEPENDENCY_CYCLE', message: expect.stringContaining('new → c → b → a → new') },
    ],
    [
      { depends_on: ['a'], blocks: ['a'] },
      { code: 'DEPENDENCY_CYCLE', message: expect.stringContaining('new → a → new') },
    ],
    [{ blocks: ['held'] }, { code: 'INVALID_STATE', field: 'blocks', assigned_agent_id: held.agent_id }],
    [{ blocks: ['done'] }, { code: 'INVALID_STATE', field: 'blocks', message: expect.stringContaining('completed') }],
  ];
  for (const [args, refusal] of cases) {
    expect(await app.refused('workflow_add_task', { workflow_id, name: 'new', description: '', ...args }), JSON.stringify(args)).toMatchObject(refusal);
  }
  expect(await graph(app, workflow_id)).toEqual(before);
});

test('tasks can be added only to a workflow that has a plan, has not ended and has fewer than 10,000 tasks', async () => {
  const { ok, refused, planned } = await workflowApp();
  const create = { name: 'w', source_type: 'prompt', source_content: 'x', repository_path: '/srv/app' };
  const { id } = await ok('workflow_create', create);
  const add = (workflow_id: string) => ({ workflow_id, name: 'new', description: '' });
  expect(await refused('workflow_add_task', add(id))).toMatchObject({ code: 'INVALID_STATE' });
  await ok('workflow_update_status', { id, status: 'ready' });
  expect(await ok('workflow_add_task', add(id))).toMatchObject({ sequence: 1, status: 'pending' });
  await ok('workflow_update_status', { id, status: 'abandoned' });
  expect(await refused('workflow_add_task', { ...add(id), name: 'late' })).toMatchObject({ code: 'INVALID_STATE' });
  const full = await planned(Array.from({ length: 10_000 }, (_, index) => `t${index}`));
  expect(await refused('workflow_add_task', add(full.workflow_id))).toMatchObject({ code: 'TOO_MANY_TASKS' });
  await ok('workflow_remove_task', { workflow_id: full.workflow_id, task_id: full.ids.t7 });
  await ok('workflow_add_task', add(full.workflow_id));
});

test('dependents of a removed task get its dependencies, and the removed task is no longer shown', async () => {
  const app = await workflowApp();
  const { workflow_id, ids } = await app.planned([
    'a',
    'b',
    { name: 'x', depends_on: ['a', 'b'], parallel_group: 'g' },
    { name: 'c', depends_on: ['x', 'a'], parallel_group: 'g' },
    { name: 'd', depends_on: ['x'] },
  ]);
  await app.completed(ids.b as string);
  expect(await app.ok('workflow_remove_task', { workflow_id, task_id: ids.x, reason: 'not needed' })).toEqual({ success: true, rewired: 2 });
  expect(await graph(app, workflow_id)).toEqual({ a: ['pending', []], b: ['completed', []], c: ['blocked', ['a', 'b']], d: ['blocked', ['a', 'b']] });
  expect(await app.refused('task_get', { id: ids.x })).toMatchObject({ code: 'TASK_NOT_FOUND' });
  expect(await app.ok('workflow_progress', { workflow_id })).toMatchObject({
    total_tasks: 4,
    parallel_groups: [{ group_id: 'g', task_count: 1, completed: 0 }],
    blocked_tasks: [
      { name: 'c', blocked_by: ['a'] },
      { name: 'd', blocked_by: ['a'] },
    ],
  });
  await app.completed(ids.a as string);
  const { tasks } = await app.ok('workflow_next_tasks', { workflow_id });
  expect(tasks.map((task: { name: string; can_parallelize: boolean }) => [task.name, task.can_parallelize])).toEqual([
    ['c', false],
    ['d', false],
  ]);
  const [event] = await app.events({ kind: 'workflow.task_removed' });
  expect(event).toMatchObject({ subject: ids.x, payload: { workflow_id, name: 'x', rewired: 2, reason: 'not needed' } });
  await app.ok('workflow_add_task', { workflow_id, name: 'x', description: 'the name is free again' });
});

test('removing the only dependency of a task makes it ready', async () => {
  const app = await workflowApp();
  const { workflow_id, ids } = await app.planned(['a', { name: 'b', depends_on: ['a'] }]);
  await app.ok('workflow_remove_task', { workflow_id, task_id: ids.a });
  expect(await graph(app, workflow_id)).toEqual({ b: ['pending', []] });
});

test('a task that is claimed, ended or of another workflow cannot be removed, and the refusal gives the reason', async () => {
  const app = await workflowApp();
  const { workflow_id, ids } = await app.planned(['held', 'running', 'done', 'failed']);
  const other = await app.planned(['elsewhere']);
  const held = await app.claimed(ids.held as string);
  await app.completed(ids.done as string);
  const running = await app.started(ids.running as string);
  const failed = await app.started(ids.failed as string);
  await app.ok('task_update_status', { id: ids.failed as string, status: 'failed', error: 'broken', agent_id: failed.agent_id });
  const refusal = (id: string | undefined) => app.refused('workflow_remove_task', { workflow_id, task_id: id });
  expect(await refusal(ids.held)).toMatchObject({
    code: 'TASK_NOT_REMOVABLE',
    assigned_agent_id: held.agent_id,
    suggestion: expect.stringMatching(new RegExp(`recipient_id "${held.agent_id}".*covenant workflow release ${ids.held}`)),
  });
  expect(await refusal(ids.running)).toMatchObject({ code: 'TASK_NOT_REMOVABLE', assigned_agent_id: running.agent_id });
  expect(await refusal(ids.done)).toMatchObject({
    code: 'TASK_NOT_REMOVABLE',
    message: expect.stringContaining('completed'),
    suggestion: expect.stringContaining('Nothing to do'),
  });
  expect(await refusal(other.ids.elsewhere)).toMatchObject({ code: 'WORKFLOW_MISMATCH', workflow_id: other.workflow_id });
  await app.ok('workflow_remove_task', { workflow_id, task_id: ids.failed });
  await app.ok('task_update_status', { id: ids.running as string, status: 'paused', agent_id: running.agent_id });
  await app.ok('workflow_update_status', { id: workflow_id, status: 'abandoned' });
  expect(await refusal(ids.held)).toMatchObject({ code: 'INVALID_STATE' });
});

test('no change can give a graph more than 100,000 dependencies', async () => {
  const app = await workflowApp();
  const { workflow_id, ids } = await app.planned([
    'a',
    'b',
    { name: 'x', depends_on: ['a', 'b'] },
    ...['y', 'z', 'w'].map((name) => ({ name, depends_on: ['x'] })),
  ]);
  const { workspace } = app.ana.principal;
  const others = 100_000 - 5;
  await app.app.store.write(workspace, async (tx) => {
    await sql`insert into workflow_dependencies (workspace_id, workflow_id, task_id, depends_on)
      with recursive counted (n) as (select 1 union all select n + 1 from counted where n < ${sql.lit(others)})
      select cast(${workspace} as text), cast(${workflow_id} as text), 'tk_' || n, 'tk_of_another' from counted`.execute(tx.db);
  });
  const before = await graph(app, workflow_id);
  const added = { workflow_id, name: 'more', description: '' };
  expect(await app.refused('workflow_add_task', { ...added, depends_on: ['a'] })).toMatchObject({ code: 'TOO_MANY_DEPENDENCIES', field: 'depends_on' });
  expect(await app.refused('workflow_add_task', { ...added, blocks: ['y'] })).toMatchObject({ code: 'TOO_MANY_DEPENDENCIES' });
  // With three dependents and two dependencies, the removal would leave six edges instead of five.
  expect(await app.refused('workflow_remove_task', { workflow_id, task_id: ids.x })).toMatchObject({
    code: 'TASK_NOT_REMOVABLE',
    suggestion: expect.stringContaining('First remove'),
  });
  expect(await graph(app, workflow_id)).toEqual(before);
  await app.ok('workflow_add_task', added);
  await app.ok('workflow_remove_task', { workflow_id, task_id: ids.w });
  await app.ok('workflow_remove_task', { workflow_id, task_id: ids.x });
});

test('adding a task deep in a large graph does not follow every path through the graph', async () => {
  const app = await workflowApp();
  const before = (index: number) => [300, 250, 201].map((step) => `t${index - step}`);
  const tasks = Array.from({ length: 9_000 }, (_, index) => ({ name: `t${index}`, depends_on: index < 300 ? [] : before(index) }));
  const { workflow_id } = await app.planned(tasks);
  const between = { workflow_id, name: 'between', description: '', depends_on: ['t8500'] };
  expect(await app.refused('workflow_add_task', { ...between, blocks: ['t8200'] })).toMatchObject({
    code: 'DEPENDENCY_CYCLE',
    cycle: ['between', 't8500', 't8200', 'between'],
  });
  expect(await app.ok('workflow_add_task', { ...between, blocks: ['t8999'] })).toMatchObject({ status: 'blocked' });
}, 10_000);
