import { expect, test } from 'vitest';
import { type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';

const NEW = { name: 'Ship it', source_type: 'prompt', source_content: 'Please ship it.', repository_path: '/srv/app' };
const task = (name: string, depends_on: string[] = [], more: object = {}) => ({ name, description: '', sequence: 1, depends_on, ...more });
const plan = (tasks: object[], more: object = {}) => ({ summary: 'What', approach: 'How', tasks, ...more });

async function tasksIn({ app }: WorkflowApp): Promise<{ tasks: number; edges: number }> {
  const { reader } = app.store;
  return {
    tasks: (await reader.selectFrom('workflow_tasks').select('id').execute()).length,
    edges: (await reader.selectFrom('workflow_dependencies').select('task_id').execute()).length,
  };
}

test(`a plan creates all its tasks unchanged, and the workflow is ready [workflow.set-plan.shape] [workflow.set-plan.task-shape]
  [workflow.set-plan.creates-tasks] [workflow.set-plan.ready] [workflow.set-plan.groups-counted] [workflow.set-plan.sequence-kept]
  [workflow.set-plan.group-kept] [workflow.set-plan.depends-by-name]`, async () => {
  const { ok, events } = await workflowApp();
  const { id } = await ok('workflow_create', NEW);
  const tasks = [
    task('schema', [], { sequence: 10, estimated_complexity: 'high', files_likely_affected: ['src/a.ts'], capabilities: ['sql'], description: 'Tables' }),
    task('api', ['schema', 'schema'], { sequence: 20, parallel_group: 'build' }),
    task('page', ['schema'], { sequence: 20, parallel_group: 'build' }),
    task('docs', ['api', 'page'], { sequence: 30, parallel_group: 'end' }),
  ];
  const answer = await ok('workflow_set_plan', { id, plan: plan(tasks, { risks: ['late'], assumptions: ['calm'] }) });
  expect(answer).toEqual({ workflow_id: id, tasks_created: 4, parallelizable_groups: 2, status: 'ready' });
  const shown = await ok('workflow_get', { id, include_tasks: true });
  expect(shown.status).toBe('ready');
  expect(shown.tasks.map((one: Record<string, unknown>) => [one.name, one.sequence, one.parallel_group, one.status, one.depends_on])).toEqual([
    ['schema', 10, null, 'pending', []],
    ['api', 20, 'build', 'blocked', ['schema']],
    ['page', 20, 'build', 'blocked', ['schema']],
    ['docs', 30, 'end', 'blocked', ['api', 'page']],
  ]);
  expect(await ok('task_get', { id: shown.tasks[0].id })).toMatchObject({
    description: 'Tables',
    estimated_complexity: 'high',
    files_likely_affected: ['src/a.ts'],
    capabilities: ['sql'],
  });
  expect((await events({ kind: 'workflow.planned' })).map(({ subject, payload }) => [subject, payload.tasks, payload.dependencies])).toEqual([[id, 4, 4]]);
});

test('complexity must be low, medium or high [workflow.set-plan.complexity]', async () => {
  const { ok, refused } = await workflowApp();
  const { id } = await ok('workflow_create', NEW);
  const tasks = ['low', 'medium', 'high'].map((estimated_complexity) => task(estimated_complexity, [], { estimated_complexity }));
  const wrong = plan([...tasks, task('x', [], { estimated_complexity: 'huge' })]);
  expect(await refused('workflow_set_plan', { id, plan: wrong })).toMatchObject({ code: 'INVALID_INPUT', field: 'plan.tasks[3].estimated_complexity' });
  await ok('workflow_set_plan', { id, plan: plan(tasks) });
});

test(`a plan with a cycle, an unknown or duplicate name, a self-dependency, no tasks or more than 10,000 is refused, the message names the fault, and nothing
  of it is created [workflow.set-plan.cycle] [workflow.set-plan.duplicate-name] [workflow.set-plan.unknown-name]`, async () => {
  const app = await workflowApp();
  const { id } = await app.ok('workflow_create', NEW);
  const many = Array.from({ length: 10_001 }, (_, index) => task(`t${index}`));
  const cases: [object[], string, string, string][] = [
    [[task('x'), task('a', ['x', 'b']), task('b', ['c']), task('c', ['a'])], 'DEPENDENCY_CYCLE', 'a → b → c → a', 'plan.tasks'],
    [[task('a'), task('b'), task('a')], 'DUPLICATE_TASK_NAME', '"a"', 'plan.tasks[2].name'],
    [[task('a'), task(' a ')], 'DUPLICATE_TASK_NAME', '"a"', 'plan.tasks[1].name'],
    [[task('a', ['ghost'])], 'UNKNOWN_DEPENDENCY', '"ghost"', 'plan.tasks[0].depends_on'],
    [[task('b'), task('a', ['a'])], 'SELF_DEPENDENCY', '"a"', 'plan.tasks[1].depends_on'],
    [[], 'INVALID_INPUT', 'plan.tasks', 'plan.tasks'],
    [many, 'INVALID_INPUT', 'plan.tasks', 'plan.tasks'],
  ];
  for (const [tasks, code, named, field] of cases) {
    expect(await app.refused('workflow_set_plan', { id, plan: plan(tasks) })).toMatchObject({ code, message: expect.stringContaining(named), field });
    expect(await tasksIn(app)).toEqual({ tasks: 0, edges: 0 });
    expect((await app.ok('workflow_get', { id })).status).toBe('planning');
  }
  await app.ok('workflow_set_plan', { id, plan: plan([task('a')]) });
});

test('the plan of a workflow can be set only once', async () => {
  const { ok, refused, planned } = await workflowApp();
  const { workflow_id: id } = await planned(['a']);
  expect(await refused('workflow_set_plan', { id, plan: plan([task('b')]) })).toMatchObject({
    code: 'INVALID_TRANSITION',
    from: 'ready',
    suggestion: expect.stringContaining('workflow_add_task'),
  });
  await ok('workflow_update_status', { id, status: 'in_progress' });
  expect(await refused('workflow_set_plan', { id, plan: plan([task('b')]) })).toMatchObject({ code: 'INVALID_TRANSITION', from: 'in_progress' });
  expect((await ok('workflow_progress', { workflow_id: id })).total_tasks).toBe(1);
});

test('a chain of 10,000 tasks can be planned, and only its first task is next', async () => {
  const { ok } = await workflowApp();
  const { id } = await ok('workflow_create', NEW);
  const tasks = Array.from({ length: 10_000 }, (_, index) => task(`t${index}`, index > 0 ? [`t${index - 1}`] : [], { sequence: index }));
  expect(await ok('workflow_set_plan', { id, plan: plan(tasks) })).toMatchObject({ tasks_created: 10_000 });
  const next = await ok('workflow_next_tasks', { workflow_id: id });
  expect(next.tasks.map(({ name }: { name: string }) => name)).toEqual(['t0']);
  expect(await ok('workflow_progress', { workflow_id: id })).toMatchObject({
    total_tasks: 10_000,
    by_status: { pending: 1, blocked: 9_999 },
    blocked_tasks_more: 9_899,
  });
});
