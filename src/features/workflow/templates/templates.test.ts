import { expect, test } from 'vitest';
import { type Body, workflowApp } from '../../../testing/scenes/workflow.ts';

const task = (name: string, more: object = {}) => ({ name, description: '', sequence: 1, ...more });

const service = {
  tasks: [
    task('Design {{service}}', { description: 'In {{language}}, for {{ service }}.' }),
    task('Test {{service}}', { sequence: 2, depends_on: ['Design {{ service }}'], parallel_group: '{{service}}-checks', capabilities: ['{{language}}'] }),
  ],
  variables: [
    { name: 'language', description: 'What it is written in.', required: true, default: 'typescript' },
    { name: 'ticket', description: 'Not used by any task.', required: false },
  ],
};

const tasksOf = async ({ ok }: Body, workflowId: string): Promise<Body[]> => (await ok('workflow_get', { id: workflowId, include_tasks: true })).tasks;

const apply = (template_id: string, more: object = {}) => ({ template_id, workflow_name: 'Made from it', repository_path: '/srv/app', ...more });

test('a template is created from a definition and listed with its variables; undeclared variables are required [template.create.shape] [template.create.definition-shape] [template.list.shape]', async () => {
  const { ok, events } = await workflowApp();
  const { id, ...nothing } = await ok('template_create', { name: 'New service', description: 'A service', template: service });
  expect(id).toMatch(/^tmpl_/);
  expect(nothing).toEqual({});
  expect(await ok('template_list', {})).toEqual({
    templates: [
      {
        id,
        name: 'New service',
        description: 'A service',
        task_count: 2,
        variables: [...service.variables, { name: 'service', description: '', required: true }],
        from_workflow_id: null,
        created_at: expect.any(Number),
      },
    ],
    total: 1,
  });
  const [created, ...more] = await events({ kind: 'template.created' });
  expect(more).toEqual([]);
  expect(created).toMatchObject({ subject: id, payload: { name: 'New service', tasks: 2, variables: 3 } });
});

test('templates are listed in pages', async () => {
  const { ok } = await workflowApp();
  for (const name of ['c', 'a', 'b']) await ok('template_create', { name, template: { tasks: [task('one')] } });
  const page = await ok('template_list', { limit: 2, offset: 1 });
  expect(page.templates.map(({ name }: Body) => name)).toEqual(['b', 'c']);
  expect(page.total).toBe(3);
});

test('a template with both a workflow and a definition, or with neither, is refused, and the refusal names both fields [template.create.one-source]', async () => {
  const { ok, planned, refused } = await workflowApp();
  const { workflow_id } = await planned(['one']);
  for (const sources of [{}, { from_workflow_id: workflow_id, template: service }]) {
    const refusal = await refused('template_create', { name: 'x', ...sources });
    expect(refusal.code).toBe('INVALID_INPUT');
    expect(refusal.message).toContain('from_workflow_id');
    expect(refusal.message).toContain('template');
  }
  expect((await ok('template_list', {})).templates).toEqual([]);
});

test('a template from a workflow has its tasks except removed ones [template.create.from-workflow]', async () => {
  const app = await workflowApp();
  const { ok, planned } = app;
  const plan = [
    {
      name: 'Build {{part}}',
      description: 'of it',
      sequence: 3,
      estimated_complexity: 'high',
      files_likely_affected: ['src/{{part}}.ts'],
      capabilities: ['rust'],
    },
    { name: 'Check', description: '', sequence: 7, parallel_group: 'checks', depends_on: ['Build {{part}}'] },
    { name: 'Gone', description: '', sequence: 9 },
  ];
  const { workflow_id, ids } = await planned(plan);
  await ok('workflow_remove_task', { workflow_id, task_id: ids.Gone });
  const { id } = await ok('template_create', { name: 'From it', from_workflow_id: workflow_id });
  const [template] = (await ok('template_list', {})).templates;
  expect(template).toMatchObject({ task_count: 2, from_workflow_id: workflow_id, variables: [{ name: 'part', required: true }] });
  const applied = await ok('template_apply', apply(id, { variables: { part: 'hull' } }));
  const tasks = await tasksOf(app, applied.workflow_id);
  const whole = await Promise.all(tasks.map(({ id: taskId }) => ok('task_get', { id: taskId })));
  expect(whole).toMatchObject([
    { name: 'Build hull', description: 'of it', sequence: 3, estimated_complexity: 'high', files_likely_affected: ['src/hull.ts'], capabilities: ['rust'] },
    { name: 'Check', sequence: 7, parallel_group: 'checks', status: 'blocked' },
  ]);
  expect(await ok('task_check_dependencies', { task_id: whole[1].id })).toMatchObject({ satisfied: false, pending: [{ name: 'Build hull' }] });
});

test('refuses a template from a workflow without tasks', async () => {
  const { ok, refused } = await workflowApp();
  const { id } = await ok('workflow_create', { name: 'Empty', source_type: 'prompt', source_content: 'x', repository_path: '/srv/app' });
  expect(await refused('template_create', { name: 'x', from_workflow_id: id })).toMatchObject({ code: 'INVALID_STATE', field: 'from_workflow_id' });
  expect(await refused('template_create', { name: 'x', from_workflow_id: 'wf_none' })).toMatchObject({ code: 'WORKFLOW_NOT_FOUND' });
});

test('the rules of a plan apply to a template', async () => {
  const { ok, refused } = await workflowApp();
  const create = (tasks: object[], variables?: object[]) => refused('template_create', { name: 'x', template: { tasks, variables } });
  expect(await create([task('a'), task('a')])).toMatchObject({ code: 'DUPLICATE_TASK_NAME', field: 'template.tasks[1].name' });
  expect(await create([task('a', { depends_on: ['a'] })])).toMatchObject({ code: 'SELF_DEPENDENCY' });
  expect(await create([task('a', { depends_on: ['b'] })])).toMatchObject({ code: 'UNKNOWN_DEPENDENCY', field: 'template.tasks[0].depends_on' });
  expect(await create([task('a', { depends_on: ['b'] }), task('b', { depends_on: ['a'] })])).toMatchObject({ code: 'DEPENDENCY_CYCLE' });
  expect(await create([])).toMatchObject({ code: 'INVALID_INPUT', field: 'template.tasks' });
  const twice = { name: 'v', description: '', required: true };
  expect(await create([task('a')], [twice, twice])).toMatchObject({ code: 'INVALID_INPUT', field: 'template.variables[1].name' });
  expect(await create([task('a')], [{ ...twice, name: '1v' }])).toMatchObject({ code: 'INVALID_INPUT', field: 'template.variables[0].name' });
  expect((await ok('template_list', {})).total).toBe(0);
});

test('two templates cannot have the same name; the refusal of a repeated call contains the existing id', async () => {
  const { ok, refused } = await workflowApp();
  const { id } = await ok('template_create', { name: 'x', template: service });
  expect(await refused('template_create', { name: 'x', template: service })).toMatchObject({ code: 'DUPLICATE_TEMPLATE', field: 'name', template_id: id });
});

test('a name that cannot hold a value is refused as a variable, so it cannot break the list of templates', async () => {
  const { ok, planned, refused } = await workflowApp();
  for (const name of ['a'.repeat(61), '__proto__']) {
    const tasks = [task('one', { description: `{{${name}}}` })];
    expect(await refused('template_create', { name: 'x', template: { tasks } })).toMatchObject({ code: 'INVALID_INPUT', field: 'template.tasks' });
    const { workflow_id } = await planned(tasks);
    expect(await refused('template_create', { name: 'x', from_workflow_id: workflow_id })).toMatchObject({ code: 'INVALID_INPUT', field: 'from_workflow_id' });
  }
  const names = ['constructor', 'toString', 'hasOwnProperty', 'a'.repeat(60)];
  const { id } = await ok('template_create', { name: 'x', template: { tasks: [task('one', { description: names.map((name) => `{{${name}}}`).join('') })] } });
  const values = JSON.parse('{"__proto__":"x"}');
  expect(await refused('template_apply', apply(id, { variables: values }))).toMatchObject({ code: 'INVALID_INPUT', field: 'variables.__proto__' });
  expect(await refused('template_apply', apply(id))).toMatchObject({ code: 'MISSING_VARIABLES', missing: names });
  expect((await ok('template_list', {})).templates).toMatchObject([{ id, variables: names.map((name) => ({ name })) }]);
});

test('a template with a task that has more dependencies than a plan may name can be applied', async () => {
  const { ok, planned } = await workflowApp();
  const [first, second] = ['a', 'b'].map((letter) => Array.from({ length: 300 }, (_, at) => `${letter}${at}`));
  const plan = [...(first ?? []), ...(second ?? []), { name: 'hub', depends_on: first }, { name: 'end', depends_on: ['hub', ...(second ?? [])] }];
  const { workflow_id, ids } = await planned(plan);
  await ok('workflow_remove_task', { workflow_id, task_id: ids.hub });
  const { id } = await ok('template_create', { name: 'x', from_workflow_id: workflow_id });
  expect(await ok('template_apply', apply(id))).toMatchObject({ tasks_created: 601 });
});

test('applying a template creates a ready workflow, with values and defaults in place of variables [template.apply.shape] [template.apply.variables] [template.apply.variable-default]', async () => {
  const app = await workflowApp();
  const { ok } = app;
  const { id } = await ok('template_create', { name: 'New service', description: 'A service', template: service });
  const applied = await ok('template_apply', apply(id, { variables: { service: 'billing' }, max_parallel_tasks: 3 }));
  expect(applied).toEqual({ workflow_id: expect.stringMatching(/^wf_/), tasks_created: 2, status: 'ready' });
  expect(await ok('workflow_get', { id: applied.workflow_id })).toMatchObject({
    name: 'Made from it',
    status: 'ready',
    source_type: 'custom',
    source_ref: id,
    source_content: 'A service',
    repository_path: '/srv/app',
    max_parallel_tasks: 3,
    plan: { summary: 'A service' },
  });
  const tasks = await Promise.all((await tasksOf(app, applied.workflow_id)).map(({ id: taskId }) => ok('task_get', { id: taskId })));
  expect(tasks).toMatchObject([
    { name: 'Design billing', description: 'In typescript, for billing.', sequence: 1 },
    { name: 'Test billing', parallel_group: 'billing-checks', capabilities: ['typescript'], sequence: 2, status: 'blocked' },
  ]);
  const other = await ok('template_apply', apply(id, { variables: { service: 'mail', language: 'rust' } }));
  expect((await tasksOf(app, other.workflow_id))[0]).toMatchObject({ name: 'Design mail' });
  expect((await ok('workflow_get', { id: other.workflow_id })).max_parallel_tasks).toBe(1);
});

test('missing and unknown variables are refused, the refusal names them, and nothing is created [template.apply.missing]', async () => {
  const { events, ok, refused } = await workflowApp();
  const tasks = [task('{{a}} and {{b}}')];
  const { id } = await ok('template_create', { name: 'x', template: { tasks } });
  expect(await refused('template_apply', apply(id))).toMatchObject({
    code: 'MISSING_VARIABLES',
    missing: ['a', 'b'],
    message: expect.stringMatching(/\ba, b\b/),
  });
  expect(await refused('template_apply', apply(id, { variables: { a: '1' } }))).toMatchObject({ code: 'MISSING_VARIABLES', missing: ['b'] });
  expect(await refused('template_apply', apply(id, { variables: { a: '1', b: '2', c: '3' } }))).toMatchObject({
    code: 'UNKNOWN_VARIABLE',
    field: 'variables.c',
  });
  expect(await refused('template_apply', apply(id, { variables: { a: '1', b: '2', constructor: '3' } }))).toMatchObject({ code: 'UNKNOWN_VARIABLE' });
  expect(await refused('template_apply', apply('tmpl_none'))).toMatchObject({ code: 'TEMPLATE_NOT_FOUND', field: 'template_id' });
  expect(await events({ kind: 'workflow.created' })).toEqual([]);
});

test('the filled plan must be valid; otherwise nothing is created', async () => {
  const { events, ok, refused } = await workflowApp();
  const tasks = [task('Build {{a}}'), task('Build {{b}}', { depends_on: ['Build {{a}}'] }), task('{{c}}', { description: '{{c}}{{c}}{{c}}{{c}}{{c}}' })];
  const { id } = await ok('template_create', { name: 'x', template: { tasks } });
  const refusal = (variables: object) => refused('template_apply', apply(id, { variables }));
  expect(await refusal({ a: 'one', b: 'one', c: 'z' })).toMatchObject({ code: 'DUPLICATE_TASK_NAME', name: 'Build one' });
  expect(await refusal({ a: 'two\nlines', b: 'b', c: 'z' })).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('tasks[0].name') });
  expect(await refusal({ a: 'x'.repeat(200), b: 'b', c: 'z' })).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await refusal({ a: 'a', b: 'b', c: '' })).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('tasks[2].name') });
  expect(await refusal({ a: 'x'.repeat(2_001), b: 'b', c: 'z' })).toMatchObject({ code: 'INVALID_INPUT', field: 'variables.a' });
  expect(await events({ kind: 'workflow.created' })).toEqual([]);
});

test('a long value in many places is refused at the first task that becomes too large; a plan that is too large to send is refused too', async () => {
  const { events, ok, refused } = await workflowApp();
  const filled = async (name: string, places: number, count: number) => {
    const tasks = Array.from({ length: count }, (_, at) => task(`t ${at}`, { description: '{{a}}'.repeat(places) }));
    const { id } = await ok('template_create', { name, template: { tasks } });
    return await refused('template_apply', apply(id, { variables: { a: 'x'.repeat(2_000) } }));
  };
  const inOne = await filled('one', 1_600, 20);
  expect(inOne.issues).toEqual([{ field: 'variables', message: expect.stringContaining('tasks[0].description') }]);
  const inAll = await filled('all', 4, 1_100);
  expect(inAll).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('larger than 8388608 characters') });
  expect(await events({ kind: 'workflow.created' })).toEqual([]);
});

test('a value is inserted literally, and placeholders in it stay unchanged', async () => {
  const app = await workflowApp();
  const { id } = await app.ok('template_create', { name: 'x', template: { tasks: [task('{{a}} {{b}}', { description: '$& {{a}}' })] } });
  const { workflow_id } = await app.ok('template_apply', apply(id, { variables: { a: '{{b}}', b: '$1' } }));
  const [made] = await tasksOf(app, workflow_id);
  expect(made.name).toBe('{{b}} $1');
  expect((await app.ok('task_get', { id: made.id })).description).toBe('$& {{b}}');
});

test('a template of 10,000 tasks is stored and applied', async () => {
  const { ok } = await workflowApp();
  const tasks = Array.from({ length: 10_000 }, (_, at) => task(`{{p}} ${at}`, { sequence: at, ...(at > 0 ? { depends_on: [`{{p}} ${at - 1}`] } : {}) }));
  const { id } = await ok('template_create', { name: 'Large', template: { tasks } });
  const { workflow_id } = await ok('template_apply', apply(id, { variables: { p: 'step' } }));
  expect(await ok('workflow_progress', { workflow_id })).toMatchObject({ total_tasks: 10_000 });
});
