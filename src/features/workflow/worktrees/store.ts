import { notFound } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, findRows, matching, pageOf } from '../../../storage/rows.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { WorkflowTaskRow } from '../workflows/index.ts';
import type { WorktreeStatus } from './contract.ts';

export const findWorktree = (db: Db, workspace: string, id: string) => findRow(db, 'worktrees', { workspace_id: workspace, id });

export const changeWorktree = (db: Db, row: Pick<WorktreeRow, 'workspace_id' | 'id'>, values: Partial<WorktreeRow>) =>
  changeRows(db, 'worktrees', { workspace_id: row.workspace_id, id: row.id }, values);

/** Returns the worktrees that the server created for a task, newest first. */
export const madeFor = (db: Db, workspace: string, taskId: string) =>
  findRows(db, 'worktrees', { workspace_id: workspace, task_id: taskId, made_by_server: 1 }, { order: { id: 'desc' } });

export const pageOfWorktrees = (
  db: Db,
  workspace: string,
  workflowId: string,
  { status, ...page }: { status?: readonly WorktreeStatus[] | undefined; limit: number; offset: number },
): Promise<{ rows: WorktreeRow[]; total: number }> =>
  pageOf(matching(db, 'worktrees', { workspace_id: workspace, workflow_id: workflowId, status }).selectAll().orderBy('id'), page);

/** The tasks assigned to each of these worktrees. */
export async function tasksIn(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string | null, string[]>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('workflow_tasks')
    .select(['id', 'worktree_id'])
    .where('workspace_id', '=', workspace)
    .where('worktree_id', 'in', ids)
    .where('status', '!=', 'removed')
    .orderBy('id')
    .execute();
  return new Map([...Map.groupBy(rows, (row) => row.worktree_id)].map(([id, tasks]) => [id, tasks.map((task) => task.id)]));
}

/** The claimed tasks that are assigned to the worktree. */
export const tasksHeldIn = (db: Db, workspace: string, worktreeId: string): Promise<WorkflowTaskRow[]> =>
  findRows(db, 'workflow_tasks', { workspace_id: workspace, worktree_id: worktreeId, assigned_agent_id: { '!=': null } });

/** Returns the dependencies of this task whose own worktrees are not merged. Their work is not in the base branch yet. */
export async function unmergedDependencies(db: Db, workspace: string, taskId: string, worktreeId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('workflow_dependencies as dependency')
    .innerJoin('workflow_tasks as task', (join) =>
      join.onRef('task.workspace_id', '=', 'dependency.workspace_id').onRef('task.id', '=', 'dependency.depends_on'),
    )
    .innerJoin('worktrees as worktree', (join) => join.onRef('worktree.workspace_id', '=', 'task.workspace_id').onRef('worktree.id', '=', 'task.worktree_id'))
    .select('task.id')
    .where('dependency.workspace_id', '=', workspace)
    .where('dependency.task_id', '=', taskId)
    .where('worktree.status', '=', 'active')
    .where('worktree.id', '!=', worktreeId)
    .orderBy('task.id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns unfinished steps, from all workspaces, whose lease has expired. */
export const overdueSteps = (db: Db, now: number, limit: number): Promise<WorktreeRow[]> =>
  findRows(db, 'worktrees', { step_until: { '<=': now } }, { order: { step_until: 'asc' }, limit });

export async function requireWorktree(db: Db, workspace: string, id: string, field: string): Promise<WorktreeRow> {
  const row = await findWorktree(db, workspace, id);
  if (row) return row;
  throw notFound(
    'WORKSPACE_NOT_FOUND',
    `Workspace ${JSON.stringify(id)} does not exist.`,
    'Call workspace_list with the workflow_id of your workflow to see the ids of its workspaces.',
    field,
  );
}
