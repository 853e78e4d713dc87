import { beforeEach, describe, expect, test } from 'vitest';
import { type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';

let app: WorkflowApp;
let workflow_id: string;
let ids: Readonly<Record<string, string>>;

beforeEach(async () => {
  app = await workflowApp();
  ({ workflow_id, ids } = await app.planned(['one', 'two']));
});

const create = async (more: object = {}): Promise<string> =>
  (await app.ok('workspace_create', { workflow_id, path: '/srv/wt/one', branch: 'feature/one', ...more })).id;
const list = async (more: object = {}) => (await app.ok('workspace_list', { workflow_id, ...more })).workspaces;

describe('registering', () => {
  test('a worktree that an agent created is stored unchanged, and its tasks are assigned to it [workspace.create.shape] [workspace.create.assigns-tasks]', async () => {
    const answer = await app.ok('workspace_create', {
      workflow_id,
      path: '/srv/wt/one/',
      branch: 'feature/one',
      base_branch: 'main',
      task_ids: [ids.one, ids.two, ids.one],
    });
    expect(answer).toEqual({ id: expect.stringMatching(/^ws_/) });
    expect(await list()).toEqual([
      {
        id: answer.id,
        workflow_id,
        path: '/srv/wt/one',
        branch: 'feature/one',
        base_branch: 'main',
        base_commit: null,
        status: 'active',
        merge_commit: null,
        task_ids: [ids.one, ids.two].sort(),
        managed: false,
        kept_reason: null,
        created_at: app.clock.now(),
        updated_at: app.clock.now(),
        closed_at: null,
      },
    ]);
    expect([(await app.task(ids.one as string)).workspace_id, (await app.task(ids.two as string)).workspace_id]).toEqual([answer.id, answer.id]);
    expect((await app.events({ kind: 'worktree.created' })).at(-1)?.subject).toBe(answer.id);
  });

  test('the path of an active workspace is refused, and the refusal names the workspace; the path of a closed workspace is free', async () => {
    const id = await create();
    const refusal = await app.refused('workspace_create', { workflow_id, path: '/srv/wt/one', branch: 'other' });
    expect(refusal).toMatchObject({ code: 'PATH_IN_USE', field: 'path', workspace_id: id });
    expect(refusal.message).toContain(id);
    await app.ok('workspace_update', { id, status: 'abandoned' });
    await create();
  });

  test.each([
    ['path', { path: 'relative/one' }],
    ['path', { path: '/srv/../etc' }],
    ['branch', { branch: '--force' }],
    ['branch', { branch: 'a b' }],
    ['branch', { branch: 'a..b' }],
    ['base_branch', { base_branch: 'x.lock' }],
    ['fence', { fence: 1 }],
    ['agent_id', { agent_id: 'ag_1' }],
    ['pathh', { pathh: '/x' }],
  ])('an invalid %s is refused, and the refusal names the field: %j', async (field, bad) => {
    const refusal = await app.refused('workspace_create', { workflow_id, path: '/srv/wt/one', branch: 'b', ...bad });
    expect(refusal).toMatchObject({ code: 'INVALID_INPUT', field });
    expect(await list()).toEqual([]);
  });

  test('tasks of another workflow, unknown tasks and tasks that another agent has claimed are refused, and nothing is stored', async () => {
    const other = await app.planned(['elsewhere']);
    const refused = (task_ids: unknown[], caller = app.ana) => app.refused('workspace_create', { workflow_id, path: '/srv/x', branch: 'b', task_ids }, caller);
    expect(await refused([ids.one, other.ids.elsewhere])).toMatchObject({ code: 'WORKFLOW_MISMATCH', field: 'task_ids', task_id: other.ids.elsewhere });
    expect(await refused(['tk_none'])).toMatchObject({ code: 'TASK_NOT_FOUND', field: 'task_ids' });
    await app.claimed(ids.two as string, app.ben);
    expect(await refused([ids.one, ids.two])).toMatchObject({ code: 'NOT_ASSIGNED', task_id: ids.two });
    expect([await list(), (await app.task(ids.one as string)).workspace_id]).toEqual([[], null]);
  });

  test('an unknown workflow and an ended workflow are refused', async () => {
    const refused = (id: string) => app.refused('workspace_create', { workflow_id: id, path: '/srv/x', branch: 'b' });
    expect(await refused('wf_none')).toMatchObject({ code: 'WORKFLOW_NOT_FOUND', field: 'workflow_id' });
    await app.ok('workflow_update_status', { id: workflow_id, status: 'abandoned' });
    expect(await refused(workflow_id)).toMatchObject({ code: 'INVALID_STATE' });
  });
});

describe('assigning a task', () => {
  test('sets the workspace of the task; repeating it changes nothing [task.assign-workspace.shape] [task.assign-workspace.stored]', async () => {
    const id = await create();
    expect(await app.ok('task_assign_workspace', { task_id: ids.one, workspace_id: id })).toEqual({ success: true, changed: true });
    expect((await app.task(ids.one as string)).workspace_id).toBe(id);
    expect((await list())[0].task_ids).toEqual([ids.one]);
    expect(await app.ok('task_assign_workspace', { task_id: ids.one, workspace_id: id })).toEqual({ success: true, changed: false });
    expect(await app.events({ kind: 'workflow.task_assigned_workspace' })).toHaveLength(1);
  });

  test('is possible only to an active workspace of the same workflow, and only while the workflow has not ended', async () => {
    const id = await create();
    const other = await app.planned(['elsewhere']);
    const refused = (task_id: unknown, workspace_id = id) => app.refused('task_assign_workspace', { task_id, workspace_id });
    expect(await refused(other.ids.elsewhere)).toMatchObject({ code: 'WORKFLOW_MISMATCH' });
    expect(await refused(ids.one, 'ws_none')).toMatchObject({ code: 'WORKSPACE_NOT_FOUND', field: 'workspace_id' });
    expect(await refused('tk_none')).toMatchObject({ code: 'TASK_NOT_FOUND', field: 'task_id' });
    const closed = await create({ path: '/srv/wt/two' });
    await app.ok('workspace_update', { id: closed, status: 'abandoned' });
    expect(await refused(ids.one, closed)).toMatchObject({ code: 'INVALID_STATE', workspace_id: closed, status: 'abandoned' });
    await app.ok('workflow_update_status', { id: workflow_id, status: 'abandoned' });
    expect(await refused(ids.one)).toMatchObject({ code: 'INVALID_STATE' });
  });

  test('is possible for a claimed task only by its holder and with its fence [task.claim.holder-only] [task.claim.stale-fence]', async () => {
    const id = await create();
    const held = await app.claimed(ids.one as string, app.ben);
    const args = { task_id: ids.one, workspace_id: id };
    expect(await app.refused('task_assign_workspace', args)).toMatchObject({ code: 'NOT_ASSIGNED' });
    expect(await app.refused('task_assign_workspace', { ...args, agent_id: held.agent_id })).toMatchObject({ code: 'FOREIGN_AGENT' });
    expect(await app.refused('task_assign_workspace', { ...args, fence: held.fence + 1 }, app.ben)).toMatchObject({ code: 'STALE_CLAIM' });
    await app.ok('task_assign_workspace', { ...args, agent_id: held.agent_id, fence: held.fence }, app.ben);
  });
});

describe('closing a worktree that an agent created', () => {
  const update = (id: string, more: object) => app.ok('workspace_update', { id, ...more });
  const refused = (id: string, more: object) => app.refused('workspace_update', { id, ...more });

  test('is possible as merged with a commit, or as abandoned; the answer says that the server does not manage the folder [workspace.update.shape]', async () => {
    const [one, two] = [await create(), await create({ path: '/srv/wt/two' })];
    app.clock.advance(1_000);
    expect(await update(one, { status: 'merged', merge_commit: 'abcdef1' })).toEqual({ success: true, changed: true, worktree: 'not_managed' });
    expect(await update(two, { status: 'abandoned' })).toEqual({ success: true, changed: true, worktree: 'not_managed' });
    expect(await list()).toMatchObject([
      { status: 'merged', merge_commit: 'abcdef1', closed_at: app.clock.now() },
      { status: 'abandoned', merge_commit: null, closed_at: app.clock.now() },
    ]);
    expect(await app.events({ kind: 'worktree.merged' })).toHaveLength(1);
    expect(await app.events({ kind: 'worktree.abandoned' })).toHaveLength(1);
  });

  test('a closed workspace stays closed, and repeating the status changes nothing [workspace.update.statuses]', async () => {
    const id = await create();
    expect(await refused(id, { status: 'deleted' })).toMatchObject({ code: 'INVALID_INPUT', field: 'status' });
    expect(await update(id, { status: 'active' })).toMatchObject({ success: true, changed: false });
    await update(id, { status: 'merged', merge_commit: 'abcdef1' });
    expect(await update(id, { status: 'merged', merge_commit: 'abcdef1' })).toMatchObject({ changed: false });
    expect(await update(id, { status: 'merged' })).toMatchObject({ changed: false });
    expect(await refused(id, { status: 'merged', merge_commit: 'abcdef2' })).toMatchObject({ code: 'INVALID_STATE', field: 'merge_commit' });
    for (const status of ['active', 'abandoned']) {
      expect(await refused(id, { status })).toMatchObject({
        code: 'INVALID_TRANSITION',
        ...{ from: 'merged', to: status, allowed: [], workspace_id: id },
        suggestion: expect.stringContaining('workspace_create with workflow_id, path and branch'),
      });
    }
    expect(await app.events({ kind: 'worktree.merged' })).toHaveLength(1);
  });

  test('merged requires a commit, a commit requires merged, and an update requires a status', async () => {
    const id = await create();
    expect(await refused(id, { status: 'merged' })).toMatchObject({ code: 'MISSING_MERGE_COMMIT', field: 'merge_commit' });
    expect(await refused(id, { status: 'abandoned', merge_commit: 'abcdef1' })).toMatchObject({ code: 'INVALID_INPUT', field: 'merge_commit' });
    expect(await refused(id, { merge_commit: 'abcdef1' })).toMatchObject({ code: 'INVALID_INPUT', field: 'merge_commit' });
    expect(await refused(id, {})).toMatchObject({ code: 'INVALID_INPUT', field: 'status' });
    for (const merge_commit of ['abcdef', 'HEAD~1xx', '--abbrev', 'a'.repeat(65)]) {
      expect(await refused(id, { status: 'merged', merge_commit })).toMatchObject({ code: 'INVALID_INPUT', field: 'merge_commit' });
    }
    expect(await app.refused('workspace_update', { id: 'ws_none', status: 'abandoned' })).toMatchObject({ code: 'WORKSPACE_NOT_FOUND', field: 'id' });
    expect((await list())[0].status).toBe('active');
  });
});

describe('listing', () => {
  test('filters by workflow and by status, in pages [workspace.list.shape] [workspace.list.status-filter]', async () => {
    const made = [];
    for (const name of ['a', 'b', 'c', 'd']) made.push(await create({ path: `/srv/wt/${name}` }));
    const [a, b, c, d] = made as [string, string, string, string];
    await app.ok('workspace_update', { id: b, status: 'merged', merge_commit: 'abcdef1' });
    await app.ok('workspace_update', { id: c, status: 'abandoned' });
    const shown = async (more: object) => (await list(more)).map(({ id }: { id: string }) => id);
    expect(await shown({})).toEqual([a, b, c, d]);
    expect(await shown({ status: ['active'] })).toEqual([a, d]);
    expect(await shown({ status: ['merged', 'abandoned'] })).toEqual([b, c]);
    expect(await app.ok('workspace_list', { workflow_id, status: ['active'], limit: 1, offset: 1 })).toMatchObject({ workspaces: [{ id: d }], total: 2 });
    const other = await app.planned(['elsewhere']);
    expect(await app.ok('workspace_list', { workflow_id: other.workflow_id })).toEqual({ workspaces: [], total: 0 });
    expect(await app.refused('workspace_list', { workflow_id, status: ['gone'] })).toMatchObject({ code: 'INVALID_INPUT', field: 'status[0]' });
    expect(await app.refused('workspace_list', { workflow_id: 'wf_none' })).toMatchObject({ code: 'WORKFLOW_NOT_FOUND', field: 'workflow_id' });
  });
});
