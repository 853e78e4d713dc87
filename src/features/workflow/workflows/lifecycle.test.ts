import { expect, test } from 'vitest';
import { workflowApp } from '../../../testing/scenes/workflow.ts';
import { WORKFLOW_MACHINE, WORKFLOW_STATUSES, type WorkflowStatus } from './lifecycle.ts';

const NEW = { name: 'Ship it', source_type: 'prompt', source_content: 'Please ship it.', repository_path: '/srv/app' };

test(`a new workflow is in planning and runs one task at a time, and the answer says so [workflow.create.shape] [workflow.create.status]
  [workflow.create.parallel-default]`, async () => {
  const { ok, events } = await workflowApp();
  const made = await ok('workflow_create', NEW);
  expect(made).toEqual({ id: expect.stringMatching(/^wf_/), name: 'Ship it', status: 'planning', max_parallel_tasks: 1, repository_path: '/srv/app' });
  const full = { ...NEW, source_ref: 'https://example.com/1', max_parallel_tasks: 3, auto_create_workspaces: true };
  const { id } = await ok('workflow_create', full);
  expect(await ok('workflow_get', { id })).toMatchObject({ ...full, id, status: 'planning', status_reason: null, plan: null, plan_summary: null });
  expect((await events({ kind: 'workflow.created' })).map(({ subject }) => subject)).toEqual([made.id, id]);
});

test('a source is one of five kinds; the refusal of any other names the field [workflow.create.source-types]', async () => {
  const { ok, refused } = await workflowApp();
  for (const source_type of ['prompt', 'github_issue', 'linear', 'jira', 'custom']) await ok('workflow_create', { ...NEW, source_type });
  expect(await refused('workflow_create', { ...NEW, source_type: 'template' })).toMatchObject({ code: 'INVALID_INPUT', field: 'source_type' });
});

test('the repository is by default the one that the client reports; if it reports none, the call is refused [workflow.create.repository-default]', async () => {
  const { app, ana, ok, refused } = await workflowApp();
  const { repository_path: _, ...rest } = NEW;
  const from = async (repository: string) => {
    const { body } = await app.dispatch.tool({ name: 'workflow_create', args: rest, principal: ana.principal, surface: 'mcp', repository });
    return body as { id: string; repository_path?: string; field?: string };
  };
  const { id, repository_path } = await from('/home/ana/shop/');
  expect(repository_path).toBe('/home/ana/shop');
  expect((await ok('workflow_get', { id })).repository_path).toBe('/home/ana/shop');
  expect(await refused('workflow_create', rest)).toMatchObject({ code: 'INVALID_INPUT', field: 'repository_path' });
  expect((await from('shop')).field).toBe('repository_path');
  expect((await ok('workflow_list', {})).total).toBe(1);
});

test('a refusal is code, message, recoverable and suggestion, with isError set; a success is the plain result [workflow.error.shape]', async () => {
  const { tool, ana } = await workflowApp();
  const refused = await tool('workflow_get', { id: 'wf_none' }, ana);
  expect(refused.isError).toBe(true);
  expect(refused.body).toEqual({
    code: 'WORKFLOW_NOT_FOUND',
    message: expect.stringContaining('wf_none'),
    recoverable: true,
    suggestion: expect.any(String),
    field: 'id',
  });
  const made = await tool('workflow_create', NEW, ana);
  expect(made.isError).toBe(false);
  expect(made.body).toMatchObject({ name: 'Ship it', status: 'planning' });
});

test('a workflow is shown without tasks by default [workflow.get.shape] [workflow.get.tasks-default]', async () => {
  const { ok, planned } = await workflowApp();
  const { workflow_id: id } = await planned(['a', 'b'], { plan: { risks: ['late'], assumptions: ['calm'] } });
  const shown = await ok('workflow_get', { id });
  expect(shown).not.toHaveProperty('tasks');
  expect(shown.plan).toEqual({ summary: 'What to do', approach: 'Step by step', risks: ['late'], assumptions: ['calm'] });
  expect(shown.plan_summary).toBe('What to do');
  expect((await ok('workflow_get', { id, include_tasks: true })).tasks).toHaveLength(2);
});

test('tasks are listed in plan order and in pages, with summaries by default [workflow.get.summaries-default]', async () => {
  const { ok, planned, completed } = await workflowApp();
  const { workflow_id: id, ids } = await planned(
    [
      { name: 'b', sequence: 2, depends_on: ['a'], description: 'x'.repeat(1_000) },
      { name: 'a', sequence: 1, parallel_group: 'g' },
      { name: 'c', sequence: 2, depends_on: ['b', 'a'], description: 'about c' },
    ],
    {},
  );
  await completed(ids.a as string);
  const { tasks, task_total } = await ok('workflow_get', { id, include_tasks: true });
  expect(tasks).toEqual([
    { id: ids.a, name: 'a', sequence: 1, parallel_group: 'g', status: 'completed', assigned_agent_id: null, depends_on: [], summary: 'done' },
    { id: ids.b, name: 'b', sequence: 2, parallel_group: null, status: 'pending', assigned_agent_id: null, depends_on: ['a'], summary: `${'x'.repeat(299)}…` },
    { id: ids.c, name: 'c', sequence: 2, parallel_group: null, status: 'blocked', assigned_agent_id: null, depends_on: ['a', 'b'], summary: 'about c' },
  ]);
  expect(task_total).toBe(3);
  const bare = await ok('workflow_get', { id, include_tasks: true, include_task_summaries: false, task_limit: 1, task_offset: 1 });
  expect(bare.tasks).toEqual([expect.objectContaining({ name: 'b' })]);
  expect(bare.tasks[0]).not.toHaveProperty('summary');
  expect(bare.task_total).toBe(3);
});

test(`workflows are listed newest first, 20 by default, with their total, and can be filtered by repository and status [workflow.list.shape]
  [workflow.list.limit-default] [workflow.list.repository-filter] [workflow.list.status-filter] [workflow.list.paging]`, async () => {
  const { ok, refused } = await workflowApp();
  const ids: string[] = [];
  for (let index = 0; index < 25; index++) {
    ids.unshift((await ok('workflow_create', { ...NEW, name: `w${index}`, repository_path: index % 5 === 0 ? '/srv/five' : '/srv/app' })).id);
  }
  const listed = async (filter: object) => {
    const { workflows, total } = await ok('workflow_list', filter);
    return { ids: workflows.map(({ id }: { id: string }) => id), total };
  };
  expect(await listed({})).toEqual({ ids: ids.slice(0, 20), total: 25 });
  expect(await listed({ limit: 10, offset: 20 })).toEqual({ ids: ids.slice(20), total: 25 });
  expect((await listed({ repository_path: '/srv/five/' })).ids).toEqual(ids.filter((_, index) => (24 - index) % 5 === 0));
  await ok('workflow_update_status', { id: ids[3] as string, status: 'abandoned' });
  await ok('workflow_update_status', { id: ids[4] as string, status: 'ready' });
  expect(await listed({ status: ['abandoned'] })).toEqual({ ids: [ids[3]], total: 1 });
  expect(await listed({ status: ['abandoned', 'ready'], limit: 1 })).toEqual({ ids: [ids[3]], total: 2 });
  expect(await refused('workflow_list', { status: ['gone'] })).toMatchObject({ field: 'status[0]' });
});

test(`the status changes of the table are accepted; all others are refused and leave the workflow unchanged
  [workflow.update-status.shape] [workflow.machine.planning-ready] [workflow.machine.ready-in-progress] [workflow.machine.in-progress-paused]
  [workflow.machine.paused-in-progress] [workflow.machine.in-progress-completed] [workflow.machine.in-progress-failed]
  [workflow.machine.failed-in-progress] [workflow.machine.abandon] [workflow.machine.terminal] [workflow.machine.others-refused]`, async () => {
  const { ok, refused } = await workflowApp();
  const ways: Record<WorkflowStatus, WorkflowStatus[]> = {
    planning: [],
    ready: ['ready'],
    in_progress: ['ready', 'in_progress'],
    paused: ['ready', 'in_progress', 'paused'],
    failed: ['ready', 'in_progress', 'failed'],
    completed: ['ready', 'in_progress', 'completed'],
    abandoned: ['abandoned'],
  };
  const taken: string[] = [];
  for (const from of WORKFLOW_STATUSES) {
    for (const to of WORKFLOW_STATUSES) {
      const { id } = await ok('workflow_create', NEW);
      for (const status of ways[from]) await ok('workflow_update_status', { id, status });
      const before = await ok('workflow_get', { id });
      expect(before.status).toBe(from);
      if (from === to) {
        expect(await ok('workflow_update_status', { id, status: to })).toEqual({ success: true, changed: false });
        expect(await ok('workflow_get', { id })).toEqual(before);
      } else if (WORKFLOW_MACHINE[from].includes(to)) {
        expect(await ok('workflow_update_status', { id, status: to, reason: 'so it is' })).toEqual({ success: true, changed: true });
        expect(await ok('workflow_get', { id })).toMatchObject({ status: to, status_reason: 'so it is' });
        taken.push(`${from}→${to}`);
      } else {
        expect(await refused('workflow_update_status', { id, status: to })).toMatchObject({
          code: 'INVALID_TRANSITION',
          from,
          to,
          allowed: WORKFLOW_MACHINE[from],
          ...(from === 'planning' && { suggestion: expect.stringContaining(`workflow_set_plan with id "${id}"`) }),
        });
        expect(await ok('workflow_get', { id })).toEqual(before);
      }
    }
  }
  expect(taken).toEqual([
    'planning→ready',
    'planning→abandoned',
    'ready→in_progress',
    'ready→abandoned',
    'in_progress→paused',
    'in_progress→completed',
    'in_progress→failed',
    'in_progress→abandoned',
    'paused→in_progress',
    'paused→abandoned',
    'failed→in_progress',
    'failed→abandoned',
  ]);
});

test('each change of status is an event with from, to and reason; the times of start and end are stored', async () => {
  const { ok, clock, events } = await workflowApp();
  const { id } = await ok('workflow_create', NEW);
  for (const status of ['ready', 'in_progress', 'paused', 'in_progress', 'completed']) {
    clock.advance(1_000);
    await ok('workflow_update_status', { id, status, reason: `now ${status}` });
  }
  const { created_at, started_at, finished_at } = await ok('workflow_get', { id });
  expect([started_at - created_at, finished_at - created_at]).toEqual([2_000, 5_000]);
  const changes = (await events({ kind: 'workflow.status_changed' })).map(({ payload, subject }) => [subject, payload.from, payload.to, payload.reason]);
  expect(changes[0]).toEqual([id, 'planning', 'ready', 'now ready']);
  expect(changes).toHaveLength(5);
});

test('ending a workflow releases every claim; pausing or failing a workflow keeps the claims', async () => {
  const { ok, planned, claimed, task } = await workflowApp();
  for (const status of ['paused', 'failed', 'completed', 'abandoned']) {
    const { workflow_id: id, ids } = await planned(['a', 'b']);
    const held = await claimed(ids.a as string);
    await ok('workflow_update_status', { id, status: 'in_progress' });
    await ok('workflow_update_status', { id, status });
    const kept = status === 'paused' || status === 'failed';
    expect((await task(ids.a as string)).assigned_agent_id, status).toBe(kept ? held.agent_id : null);
  }
});

test(`the parallelism of a workflow can be changed until it ends, and the recommended number of next tasks changes with it [workflow.set-parallelism.shape]
  [workflow.set-parallelism.effect]`, async () => {
  const { ok, refused, planned, events } = await workflowApp();
  const { workflow_id: id } = await planned(['a', 'b', 'c'], { workflow: { max_parallel_tasks: 1 } });
  expect(await ok('workflow_set_parallelism', { id, max_parallel_tasks: 2, auto_create_workspaces: true })).toEqual({ success: true });
  expect(await ok('workflow_next_tasks', { workflow_id: id })).toMatchObject({ max_parallel: 2, recommended_count: 2 });
  await ok('workflow_set_parallelism', { id, max_parallel_tasks: 5 });
  expect(await ok('workflow_get', { id })).toMatchObject({ max_parallel_tasks: 5, auto_create_workspaces: true });
  expect(await refused('workflow_set_parallelism', { id, max_parallel_tasks: 0 })).toMatchObject({ field: 'max_parallel_tasks' });
  expect((await events({ kind: 'workflow.parallelism_changed' })).map(({ payload }) => [payload.from, payload.to])).toEqual([
    [1, 2],
    [2, 5],
  ]);
  await ok('workflow_update_status', { id, status: 'abandoned' });
  expect(await refused('workflow_set_parallelism', { id, max_parallel_tasks: 1 })).toMatchObject({ code: 'INVALID_STATE' });
});

test('another workspace sees nothing of a workflow', async () => {
  const { ok, refused, planned, developer } = await workflowApp();
  const { workflow_id, ids } = await planned(['a']);
  const stranger = await developer('eve', undefined, 'ws_other');
  expect(await ok('workflow_list', {}, stranger)).toEqual({ workflows: [], total: 0 });
  for (const [tool, args] of [
    ['workflow_get', { id: workflow_id }],
    ['workflow_update_status', { id: workflow_id, status: 'abandoned' }],
    ['workflow_next_tasks', { workflow_id }],
    ['workflow_progress', { workflow_id }],
  ] as const) {
    expect(await refused(tool, args, stranger), tool).toMatchObject({ code: 'WORKFLOW_NOT_FOUND' });
  }
  expect(await refused('task_check_dependencies', { task_id: ids.a as string }, stranger)).toMatchObject({ code: 'TASK_NOT_FOUND' });
});
