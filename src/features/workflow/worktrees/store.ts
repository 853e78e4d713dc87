import type { Db } from '../../../storage/engine.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { WorkflowTaskRow } from '../workflows/index.ts';
import type { WorktreeStatus } from './contract.ts';

export async function findWorktree(db: Db, workspace: string, id: string): Promise<WorktreeRow | undefined> {
  return await db.selectFrom('worktrees').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

export async function insertWorktree(db: Db, row: WorktreeRow): Promise<void> {
  await db.insertInto('worktrees').values(row).execute();
}

export async function changeWorktree(db: Db, row: Pick<WorktreeRow, 'workspace_id' | 'id'>, values: Partial<WorktreeRow>): Promise<void> {
  await db.updateTable('worktrees').set(values).where('workspace_id', '=', row.workspace_id).where('id', '=', row.id).execute();
}

export async function activeAt(db: Db, workspace: string, path: string): Promise<WorktreeRow | undefined> {
  return await db
    .selectFrom('worktrees')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('path', '=', path)
    .where('status', '=', 'active')
    .executeTakeFirst();
}

/** Those that the server has made for a task, newest first. */
export async function madeFor(db: Db, workspace: string, taskId: string): Promise<WorktreeRow[]> {
  return await db
    .selectFrom('worktrees')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('task_id', '=', taskId)
    .where('made_by_server', '=', 1)
    .orderBy('id', 'desc')
    .execute();
}

const listed = (db: Db, workspace: string, workflowId: string, statuses: readonly WorktreeStatus[] | undefined) => {
  const rows = db.selectFrom('worktrees').where('workspace_id', '=', workspace).where('workflow_id', '=', workflowId);
  return statuses ? rows.where('status', 'in', statuses) : rows;
};

export async function worktreesOf(
  db: Db,
  workspace: string,
  workflowId: string,
  { status, limit, offset }: { status?: readonly WorktreeStatus[] | undefined; limit: number; offset: number },
): Promise<{ rows: WorktreeRow[]; total: number }> {
  const { total } = await listed(db, workspace, workflowId, status)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await listed(db, workspace, workflowId, status).selectAll().orderBy('id').limit(limit).offset(offset).execute();
  return { rows, total: Number(total) };
}

/** The tasks that are done in each of these. */
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

/** Those of them that an agent holds now. */
export async function tasksHeldIn(db: Db, workspace: string, worktreeId: string): Promise<WorkflowTaskRow[]> {
  return await db
    .selectFrom('workflow_tasks')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('worktree_id', '=', worktreeId)
    .where('assigned_agent_id', 'is not', null)
    .execute();
}

/** Tasks that this one builds on and whose own worktree is not merged: what they did is not in the base branch yet. */
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

/** Of all workspaces: what a process began and did not finish in its time. */
export async function overdueSteps(db: Db, now: number, limit: number): Promise<WorktreeRow[]> {
  return await db.selectFrom('worktrees').selectAll().where('step_until', '<=', now).orderBy('step_until').limit(limit).execute();
}
