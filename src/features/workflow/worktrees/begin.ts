import { Refusal } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { isUnderWay } from '../../../kernel/step.ts';
import type { Db } from '../../../storage/engine.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { findTask, requireWorkflow, type WorkflowTaskRow } from '../workflows/index.ts';
import { placeFor } from './place.ts';
import { type Leased, lease } from './step.ts';
import { activeAt, changeWorktree, findWorktree, insertWorktree, madeFor } from './store.ts';

/** Where the worktree is made from. */
export interface Start {
  readonly root: string;
  readonly branch: string;
}

export interface Claim {
  readonly task: WorkflowTaskRow;
  readonly fence: number;
}

/** Whether the claim for which the worktree is made is still the task's. */
export async function claimStands(db: Db, { workspace_id, task_id, fence }: Pick<WorktreeRow, 'workspace_id' | 'task_id' | 'fence'>): Promise<boolean> {
  const task = task_id === null ? undefined : await findTask(db, workspace_id, task_id);
  return task !== undefined && task.fence === fence && task.assigned_agent_id !== null;
}

/** The active workspace that the task is done in, or that was made for it. */
export async function currentWorktree(db: Db, task: WorkflowTaskRow): Promise<WorktreeRow | undefined> {
  const assigned = task.worktree_id === null ? undefined : await findWorktree(db, task.workspace_id, task.worktree_id);
  if (assigned?.status === 'active') return assigned;
  return (await madeFor(db, task.workspace_id, task.id)).find((row) => row.status === 'active');
}

export const claimGone = (task: Pick<WorkflowTaskRow, 'id' | 'name'>): Refusal =>
  new Refusal('STALE_CLAIM', `The claim of task ${JSON.stringify(task.name)} ended before its worktree was made.`, 'Claim it again with task_claim.', {
    task_id: task.id,
  });

export const pending = (task: Pick<WorkflowTaskRow, 'id' | 'name'>): Refusal =>
  new Refusal(
    'WORKTREE_PENDING',
    `The worktree of task ${JSON.stringify(task.name)} is being made or cleared away at this moment.`,
    'Call task_claim again in a few seconds.',
    { task_id: task.id },
  );

/**
 * Writes down what is about to be made, before anything is. A worktree that was made before and is gone from disk is made
 * again; an attempt that failed is repeated in its own place.
 */
export async function beginCreating(tx: Tx, actor: string, { task, fence }: Claim, start: Start): Promise<Leased> {
  if (!(await claimStands(tx.db, { workspace_id: tx.workspace, task_id: task.id, fence }))) throw claimGone(task);
  const rows = await madeFor(tx.db, tx.workspace, task.id);
  if (rows.some((row) => row.status === 'active' && isUnderWay(row, tx.now))) throw pending(task);
  const again =
    rows.find((row) => row.status === 'active') ?? rows.find((row) => row.base_commit === null && row.step === null && row.repository_path === start.root);
  const values = {
    ...lease('creating', tx.now),
    status: 'active',
    task_id: task.id,
    fence,
    actor,
    kept_reason: null,
    closed_at: null,
    updated_at: tx.now,
  } as const;
  if (again) {
    const base = again.base_commit === null ? { base_branch: start.branch } : {};
    await changeWorktree(tx.db, again, { ...values, ...base });
    return { ...again, ...values, ...base };
  }
  const row: Leased = {
    ...values,
    workspace_id: tx.workspace,
    id: newId('ws', tx.now),
    workflow_id: task.workflow_id,
    ...(await freePlace(tx, task, start.root, rows.length)),
    base_branch: start.branch,
    base_commit: null,
    merge_commit: null,
    repository_path: start.root,
    made_by_server: 1,
    created_at: tx.now,
  };
  await insertWorktree(tx.db, row);
  return row;
}

async function freePlace(tx: Tx, task: WorkflowTaskRow, root: string, earlier: number): Promise<{ path: string; branch: string }> {
  const workflow = await requireWorkflow(tx.db, tx.workspace, task.workflow_id);
  for (let number = earlier; ; number++) {
    const place = placeFor(root, workflow, task, number);
    if (!(await activeAt(tx.db, tx.workspace, place.path))) return place;
  }
}
