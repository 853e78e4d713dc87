import type { CallContext } from '../../../kernel/call.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { isUnderWay, messageOf, STEP_OVER, type StepRunner, stepRunner } from '../../../kernel/step.ts';
import { RepositoryUnfit } from '../../../machine/git/repository.ts';
import { ProgramMissing } from '../../../machine/process/process.ts';
import type { Db } from '../../../storage/engine.ts';
import { findRow, insertRows, newId } from '../../../storage/rows.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type OpenedWorktree, unclaimTask } from '../steps/index.ts';
import { findTask, isOneOf, requireTask, requireWorkflow, SYSTEM_MACHINE, type WorkflowTaskRow } from '../workflows/index.ts';
import { placeTask } from './assign.ts';
import { reachRepository, type WorktreeOutside } from './outside.ts';
import { placeFor } from './place.ts';
import { clearFromDisk } from './removal.ts';
import { type LeasedWorktree, lease, renew, stillMine } from './step.ts';
import { changeWorktree, findWorktree, madeFor, unmergedDependencies } from './store.ts';

/** The repository and branch from which the worktree starts. */
interface Start {
  readonly root: string;
  readonly branch: string;
}

interface WorktreeClaim {
  readonly task: WorkflowTaskRow;
  readonly fence: number;
}

/**
 * Opens a worktree for a claimed task. Reuses the worktree that the task already has, or creates one. If that fails, undoes the claim and throws a
 * refusal with the reason.
 */
export async function openWorktree(outside: WorktreeOutside, ctx: CallContext, task: WorkflowTaskRow, fence: number): Promise<OpenedWorktree | undefined> {
  const runner = stepRunner(ctx, ctx.signal);
  const current = await currentWorktree(ctx.reader, task);
  // If work on the task has begun, its holder claims it again only to renew the lease. The worktree then stays the same.
  const wasBegun = isOneOf(SYSTEM_MACHINE.release.from, task.status);
  if (wasBegun && !current) return undefined;
  if (current && isUnderWay(current, ctx.clock.now())) {
    // If the fence is the same, another call is already creating the worktree for this claim. If the fence differs, the worktree of an earlier claim
    // must be removed first.
    if (current.fence !== fence) await runner.write((tx) => unclaimTask(tx, task, fence, runner.actor, 'its earlier worktree is being removed'));
    throw worktreePending(task);
  }
  const isReady = current?.step === null && (wasBegun || current.made_by_server === 0 || (await isOnDisk(outside, current)));
  const { id, path, branch, base_branch } = current && isReady ? current : await makeWorktree(outside, runner, ctx.reader, { task, fence });
  if (current && isReady) await runner.write((tx) => reuseWorktree(tx, runner, current, { task, fence }));
  const unmerged = await unmergedDependencies(ctx.reader, ctx.workspace, task.id, id);
  return { id, path, branch, base_branch, ...(unmerged.length > 0 ? { unmerged_dependencies: unmerged } : {}) };
}

/** Returns the active workspace to which the task is assigned. If there is none, returns the active workspace that the server created for the task. */
async function currentWorktree(db: Db, task: WorkflowTaskRow): Promise<WorktreeRow | undefined> {
  const assigned = task.worktree_id === null ? undefined : await findWorktree(db, task.workspace_id, task.worktree_id);
  if (assigned?.status === 'active') return assigned;
  return (await madeFor(db, task.workspace_id, task.id)).find((row) => row.status === 'active');
}

/** Also returns true if this machine cannot reach the repository, because then the stored row is the only information. */
async function isOnDisk(outside: WorktreeOutside, { repository_path, path }: WorktreeRow): Promise<boolean> {
  try {
    return await outside.disk.hasWorktree((await reachRepository(outside, repository_path)).root, path);
  } catch {
    return true;
  }
}

async function reuseWorktree(tx: Tx, runner: StepRunner, row: WorktreeRow, { task, fence }: WorktreeClaim): Promise<void> {
  if (!(await claimStands(tx.db, { workspace_id: tx.workspace, task_id: task.id, fence }))) throw claimGone(task);
  await placeTask(tx, runner.actor, await requireTask(tx.db, tx.workspace, task.id), row.id);
}

async function makeWorktree(outside: WorktreeOutside, runner: StepRunner, db: Db, claim: WorktreeClaim): Promise<WorktreeRow> {
  const { task, fence } = claim;
  let start: Start;
  try {
    const { repository_path } = await requireWorkflow(db, task.workspace_id, task.workflow_id);
    const { root } = await reachRepository(outside, repository_path, runner.signal);
    start = { root, branch: (await outside.disk.startingPoint(root, { signal: runner.signal })).branch };
  } catch (error) {
    await runner.write((tx) => unclaimTask(tx, task, fence, runner.actor, `no worktree: ${messageOf(error)}`));
    throw worktreeFailed(task, error);
  }
  const leased = await runner.write((tx) => beginCreating(tx, runner.actor, claim, start));
  const made = await carryOutCreation(outside, runner, leased);
  if ('row' in made) return made.row;
  throw made.failure === undefined ? claimGone(task) : worktreeFailed(task, made.failure);
}

/** Returns whether the claim for which the worktree is created is still the current claim of the task. */
export async function claimStands(db: Db, { workspace_id, task_id, fence }: Pick<WorktreeRow, 'workspace_id' | 'task_id' | 'fence'>): Promise<boolean> {
  const task = task_id === null ? undefined : await findTask(db, workspace_id, task_id);
  return task !== undefined && task.fence === fence && task.assigned_agent_id !== null;
}

/**
 * Records that a worktree will be created, before the creation starts. If an earlier worktree of the task no longer exists on disk, it is created
 * again. If an earlier attempt failed, the new attempt uses the same path and branch.
 */
async function beginCreating(tx: Tx, actor: string, { task, fence }: WorktreeClaim, start: Start): Promise<LeasedWorktree> {
  if (!(await claimStands(tx.db, { workspace_id: tx.workspace, task_id: task.id, fence }))) throw claimGone(task);
  const rows = await madeFor(tx.db, tx.workspace, task.id);
  if (rows.some((row) => row.status === 'active' && isUnderWay(row, tx.now))) throw worktreePending(task);
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
  await insertRows(tx.db, 'worktrees', row);
  return row;
}

async function freePlace(tx: Tx, task: WorkflowTaskRow, root: string, earlier: number): Promise<{ path: string; branch: string }> {
  const workflow = await requireWorkflow(tx.db, tx.workspace, task.workflow_id);
  for (let number = earlier; ; number++) {
    const place = placeFor(root, workflow, task, number);
    if (!(await findRow(tx.db, 'worktrees', { workspace_id: tx.workspace, path: place.path, status: 'active' }))) return place;
  }
}

type MadeWorktree = { readonly row: WorktreeRow } | { readonly failure: unknown };

/**
 * Creates the recorded worktree. If that fails, undoes the attempt. If this process dies, another process can take the step over and repeat it from
 * the beginning.
 */
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
  await undoCreation(outside, runner, leased, 'the claim ended while the worktree was being created');
  return { failure: undefined };
}

async function addOnDisk(outside: WorktreeOutside, { signal }: StepRunner, row: LeasedWorktree): Promise<string> {
  const { root } = await reachRepository(outside, row.repository_path, signal);
  const base = await outside.disk.resolveCommit(root, `refs/heads/${row.base_branch}`, { signal });
  if (base === null) throw new Error(`its base branch ${row.base_branch} no longer exists`);
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

/** Removes everything that the attempt created, and ends the claim. Does nothing if another server has taken the step over. */
export async function undoCreation(outside: WorktreeOutside, runner: StepRunner, made: LeasedWorktree, reason: string): Promise<void> {
  const leased = await runner.write((tx) => renew(tx, made));
  if (!leased) return;
  const left = leased.base_commit === null ? await clearFromDisk(outside, leased) : null;
  await runner.write(async (tx) => {
    const row = await stillMine(tx, leased);
    if (!row) return;
    const kept_reason = left === null || left === reason ? reason : `${reason}; left on disk: ${left}`;
    // A worktree that was used before stays active, because its branch contains work.
    const closed = row.base_commit === null ? ({ status: 'abandoned', kept_reason, closed_at: tx.now } as const) : {};
    await changeWorktree(tx.db, row, { ...STEP_OVER, ...closed, updated_at: tx.now });
    if (row.task_id !== null && row.fence !== null) await unclaimTask(tx, { id: row.task_id }, row.fence, runner.actor, `no worktree: ${reason}`);
    const payload = { workflow_id: row.workflow_id, task_id: row.task_id, reason: kept_reason.slice(0, 200) };
    tx.append({ category: 'work', kind: 'worktree.failed', actor: runner.actor, subject: row.id, payload });
  });
}

const claimGone = (task: Pick<WorkflowTaskRow, 'id' | 'name'>): Refusal =>
  new Refusal(
    'STALE_CLAIM',
    `Your claim of task ${JSON.stringify(task.name)} ended before its worktree was created.`,
    `To try again, call task_claim with task_id "${task.id}" and your agent_id.`,
    { task_id: task.id },
  );

const worktreePending = (task: Pick<WorkflowTaskRow, 'id' | 'name'>): Refusal =>
  new Refusal(
    'WORKTREE_PENDING',
    `The worktree of task ${JSON.stringify(task.name)} is currently being created or removed.`,
    `Call task_claim again in a few seconds, with task_id "${task.id}" and your agent_id.`,
    { task_id: task.id },
  );

const NEXT: Record<RepositoryUnfit['why'], string> = {
  missing: "Put a git repository at the workflow's repository_path on the server's machine",
  not_git: "Make the workflow's repository_path on the server's machine a git repository",
  detached: 'Check out the branch in the repository that tasks should start from',
  empty: 'Create the first commit in the repository',
};

function repairOf(error: unknown): string {
  if (error instanceof RepositoryUnfit) return NEXT[error.why];
  if (error instanceof ProgramMissing) return `Install ${error.program} on the server`;
  return 'Fix what git reports';
}
function nextFor(error: unknown, { id, workflow_id }: { id: string; workflow_id: string }): string {
  const without = `workflow_set_parallelism with id "${workflow_id}", max_parallel_tasks and auto_create_workspaces false`;
  return `${repairOf(error)}, then call task_claim again with task_id "${id}". To work without worktrees of the server, call ${without}; then claim the task and use your own worktree.`;
}

/** The refusal for the agent whose claim was undone. */
function worktreeFailed(task: Pick<WorkflowTaskRow, 'id' | 'name' | 'workflow_id'>, error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal('WORKTREE_FAILED', `No worktree could be created for task ${JSON.stringify(task.name)}: ${messageOf(error)}.`, nextFor(error, task), {
    task_id: task.id,
    claimed: false,
  });
}
