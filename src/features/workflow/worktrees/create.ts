import { Refusal } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { isUnderWay, messageOf, STEP_OVER, type StepRunner } from '../../../kernel/step.ts';
import type { Db } from '../../../storage/engine.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { unclaimTask } from '../steps/index.ts';
import { findTask, requireTask, requireWorkflow, type WorkflowTaskRow } from '../workflows/index.ts';
import { placeTask } from './assign.ts';
import { clearFromDisk } from './remove.ts';
import { type LeasedWorktree, lease, reachRepository, renew, stillMine, type WorktreeOutside } from './step.ts';
import { activeAt, changeWorktree, findWorktree, insertWorktree, madeFor } from './store.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

const LONGEST = 40;

/** What of a name can stand in a branch and in a folder on any system. */
export function slug(name: string, otherwise: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, '');
  return plain || otherwise;
}

/** Two of the same name are told apart by the ends of their ids. */
const tailed = ({ id, name }: Named, otherwise: string): string => `${slug(name, otherwise)}-${id.slice(-6).toLowerCase()}`;

/** How the branches of tasks begin. They are there until their work is elsewhere. */
export const TASK_BRANCHES = 'workflow/';

/** Where the server puts a task's worktree, and on which branch. A task that had some before gets another number. */
export function placeFor(root: string, workflow: Named, task: Named, earlier: number): { path: string; branch: string } {
  const number = earlier === 0 ? '' : `-${earlier + 1}`;
  const own = `${tailed(task, 'task')}${number}`;
  return { path: `${root}-worktrees/${own}`, branch: `${TASK_BRANCHES}${tailed(workflow, 'workflow')}/${own}` };
}

/** Where the worktree is made from. */
export interface Start {
  readonly root: string;
  readonly branch: string;
}

export interface WorktreeClaim {
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
export async function beginCreating(tx: Tx, actor: string, { task, fence }: WorktreeClaim, start: Start): Promise<LeasedWorktree> {
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
  const row: LeasedWorktree = {
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

export type MadeWorktree = { readonly row: WorktreeRow } | { readonly failure: unknown };

/** From what was written down to what is there, or back to nothing. Can be begun again by whoever takes it over. */
export async function carryOutCreation(outside: WorktreeOutside, runner: StepRunner, leased: LeasedWorktree): Promise<MadeWorktree> {
  let head: string;
  try {
    head = await addOnDisk(outside, runner, leased);
  } catch (failure) {
    await undoCreation(outside, runner, leased, messageOf(failure));
    return { failure };
  }
  const row = await runner.write((tx) => settleCreation(tx, runner, leased, head));
  if (row) return { row };
  await undoCreation(outside, runner, leased, 'the claim ended while the worktree was being made');
  return { failure: undefined };
}

async function addOnDisk(outside: WorktreeOutside, { signal }: StepRunner, row: LeasedWorktree): Promise<string> {
  const { root } = await reachRepository(outside, row.repository_path, signal);
  const base = await outside.disk.resolveCommit(root, `refs/heads/${row.base_branch}`, { signal });
  if (base === null) throw new Error(`the branch ${row.base_branch} that it starts from is gone`);
  return await outside.disk.addWorktree(root, { path: row.path, branch: row.branch, base, continues: row.base_commit !== null }, { signal });
}

async function settleCreation(tx: Tx, runner: StepRunner, leased: LeasedWorktree, head: string): Promise<WorktreeRow | undefined> {
  const row = await stillMine(tx, leased);
  if (!row || !(await claimStands(tx.db, row))) return undefined;
  const values = { ...STEP_OVER, base_commit: row.base_commit ?? head, updated_at: tx.now };
  await changeWorktree(tx.db, row, values);
  const payload = { workflow_id: row.workflow_id, task_id: row.task_id, branch: row.branch, managed: true };
  tx.append({ category: 'work', kind: 'worktree.created', actor: runner.actor, subject: row.id, payload });
  await placeTask(tx, runner.actor, await requireTask(tx.db, tx.workspace, row.task_id as string), row.id);
  return { ...row, ...values };
}

/** What was made goes, as nobody was told of it; the claim goes with it. Nothing happens where another has taken over. */
export async function undoCreation(outside: WorktreeOutside, runner: StepRunner, made: LeasedWorktree, reason: string): Promise<void> {
  const leased = await runner.write((tx) => renew(tx, made));
  if (!leased) return;
  const left = leased.base_commit === null ? await clearFromDisk(outside, leased) : null;
  await runner.write(async (tx) => {
    const row = await stillMine(tx, leased);
    if (!row) return;
    const kept_reason = left === null || left === reason ? reason : `${reason}; left on disk: ${left}`;
    // One that was worked in before stays what it was: the work is on its branch.
    const closed = row.base_commit === null ? ({ status: 'abandoned', kept_reason, closed_at: tx.now } as const) : {};
    await changeWorktree(tx.db, row, { ...STEP_OVER, ...closed, updated_at: tx.now });
    if (row.task_id !== null && row.fence !== null) await unclaimTask(tx, { id: row.task_id }, row.fence, runner.actor, `no worktree: ${reason}`);
    const payload = { workflow_id: row.workflow_id, task_id: row.task_id, reason: kept_reason.slice(0, 200) };
    tx.append({ category: 'work', kind: 'worktree.failed', actor: runner.actor, subject: row.id, payload });
  });
}
