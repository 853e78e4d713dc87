import { absolutePath } from '../../../kernel/contract.ts';
import { isHeldAs, isLeft, type LeasedStep, STEP_OVER } from '../../../kernel/step.ts';
import type { GitDisk } from '../../../machine/git/disk.ts';
import { type Located, reachRepository as reach } from '../../../machine/git/repository.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, findRows } from '../../../storage/rows.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import { branch, commit, fits, flag, idOf, oneOf, type RowRule, type RowRules, rowRule } from '../../../storage/transfer/row-rules.ts';
import type { Tx } from '../../../storage/write.ts';
import type { WorkflowTaskRow } from '../workflows/index.ts';
import { WORKTREE_STATUSES, type WorktreeStatus } from './contract.ts';

export const findWorktree = (db: Db, workspace: string, id: string) => findRow(db, 'worktrees', { workspace_id: workspace, id });

export const changeWorktree = (db: Db, row: Pick<WorktreeRow, 'workspace_id' | 'id'>, values: Partial<WorktreeRow>) =>
  changeRows(db, 'worktrees', { workspace_id: row.workspace_id, id: row.id }, values);

/** Those that the server has made for a task, newest first. */
export const madeFor = (db: Db, workspace: string, taskId: string) =>
  findRows(db, 'worktrees', { workspace_id: workspace, task_id: taskId, made_by_server: 1 }, { order: { id: 'desc' } });

const listed = (db: Db, workspace: string, workflowId: string, statuses: readonly WorktreeStatus[] | undefined) => {
  const rows = db.selectFrom('worktrees').where('workspace_id', '=', workspace).where('workflow_id', '=', workflowId);
  return statuses ? rows.where('status', 'in', statuses) : rows;
};

export async function pageOfWorktrees(
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

/** The machine outside the store, and which repositories on it may be touched. */
export interface WorktreeOutside {
  readonly disk: GitDisk;
  /** Folders under which repositories may be; undefined: anywhere. */
  readonly repositories: readonly string[] | undefined;
}

/** For so long an overdue step is left to another machine, where this one does not have the repository. */
export const ELSEWHERE_MS = 10 * 60_000;

/** Longer than git is given for a checkout: whoever takes a step over finds no git of the other's still at work. */
const STEP_MS = 120_000;

export type LeasedWorktree = LeasedStep<WorktreeRow>;

export const lease = (step: NonNullable<WorktreeRow['step']>, now: number) => ({ step, step_until: now + STEP_MS });

export async function takeOver(tx: Tx, seen: WorktreeRow): Promise<LeasedWorktree | undefined> {
  const row = await findWorktree(tx.db, tx.workspace, seen.id);
  return row?.step != null && isLeft(row, seen, tx.now) ? await prolong(tx, row, row.step) : undefined;
}

/** For what takes a while longer, before it is begun. */
export async function renew(tx: Tx, leased: LeasedWorktree): Promise<LeasedWorktree | undefined> {
  const row = await stillMine(tx, leased);
  return row && (await prolong(tx, row, leased.step));
}

async function prolong(tx: Tx, row: WorktreeRow, step: LeasedWorktree['step']): Promise<LeasedWorktree> {
  const values = lease(step, tx.now);
  await changeWorktree(tx.db, row, values);
  return { ...row, ...values };
}

/** As it stands now, if it is still in the same hands. */
export async function stillMine(tx: Tx, leased: LeasedWorktree): Promise<WorktreeRow | undefined> {
  const row = await findWorktree(tx.db, tx.workspace, leased.id);
  return row && isHeldAs(row, leased) ? row : undefined;
}

const otherwise = 'set auto_create_workspaces to false with workflow_set_parallelism';

export const reachRepository = (outside: WorktreeOutside, path: string, signal?: AbortSignal): Promise<Located> =>
  reach({ ...outside, otherwise }, path, signal);

/** This server did not make it, so it never removes it; nor does it go on with what another began. */
const detach: RowRule = (row, { isAllowed }) => {
  if (row.made_by_server === 1 && !(isAllowed(String(row.path)) && isAllowed(String(row.repository_path))))
    return { row: null, leftOut: 'outside_repositories' };
  const brought = { ...row, ...STEP_OVER, made_by_server: 0 };
  if (row.step !== null) return { row: brought, leftOut: 'pending_steps' };
  return row.made_by_server === 1 ? { row: brought, leftOut: 'server_worktrees' } : { row: brought };
};

export const worktreeRows = {
  worktrees: rowRule<WorktreeRow>(
    {
      id: idOf('ws'),
      workflow_id: idOf('wf'),
      status: oneOf(...WORKTREE_STATUSES),
      path: fits(absolutePath),
      repository_path: fits(absolutePath),
      branch,
      base_branch: branch,
      base_commit: commit,
      made_by_server: flag,
      step: oneOf('creating', 'removing'),
    },
    detach,
  ),
} satisfies Partial<RowRules>;
