import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput, invalidState, Refusal } from '../../../kernel/reply.ts';
import { isUnderWay, messageOf, STEP_OVER, type StepRunner } from '../../../kernel/step.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { reasonToKeep } from '../../../machine/git/reason-to-keep.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { requireOwnAgent } from '../agents/index.ts';
import { requireHold, requireTransition } from '../workflows/index.ts';
import { requireWorktree } from './assign.ts';
import type { WorktreeStatus, workspaceUpdate } from './contract.ts';
import { TASK_BRANCHES } from './place.ts';
import { type LeasedWorktree, lease, reachRepository, stillMine, type WorktreeOutside } from './step.ts';
import { changeWorktree, tasksHeldIn } from './store.ts';

const WORKTREE_MACHINE: Readonly<Record<WorktreeStatus, readonly WorktreeStatus[]>> = {
  active: ['merged', 'abandoned'],
  merged: [],
  abandoned: [],
};

/** What an update asks for, apart from the state of the workspace. */
export function requireStatusChange({ status, merge_commit }: { status?: WorktreeStatus | undefined; merge_commit?: string | undefined }): WorktreeStatus {
  if (merge_commit !== undefined && status !== 'merged') {
    throw invalidInput([{ field: 'merge_commit', message: 'goes with status "merged" and with nothing else' }]);
  }
  if (status === undefined) throw invalidInput([{ field: 'status', message: 'nothing to update: give a status' }]);
  return status;
}

type Closing = Omit<Input<typeof workspaceUpdate>, 'status'> & { readonly status: WorktreeStatus };

/** Whether this is a step that the workspace can take; false: it was taken already. */
export function requireClosable(row: WorktreeRow, { status, merge_commit }: Closing): boolean {
  if (status !== row.status) requireTransition(WORKTREE_MACHINE, 'workspace', row.id, row.status, status);
  const details = { field: 'merge_commit', workspace_id: row.id };
  if (status === 'merged' && row.status === 'active' && merge_commit === undefined) {
    const message = 'A workspace is merged by a commit: merge_commit is missing.';
    throw new Refusal('MISSING_MERGE_COMMIT', message, 'Give the hash of the merge commit.', details);
  }
  if (row.status === 'merged' && merge_commit !== undefined && merge_commit !== row.merge_commit) {
    throw invalidState(`Workspace ${row.id} was merged already, by ${row.merge_commit}.`, 'Leave it as it is.', details);
  }
  return status !== row.status;
}

/** A worktree of the server's goes only by a commit that its repository has. One that is not on this machine cannot be asked. */
export async function requireCommit(outside: WorktreeOutside, row: WorktreeRow, commit: string, signal: AbortSignal): Promise<void> {
  try {
    const { root } = await reachRepository(outside, row.repository_path, signal);
    if ((await outside.disk.commitByHash(root, commit, { signal })) !== null) return;
  } catch (error) {
    if (signal.aborted) throw error;
    // Not to be asked from here; that the worktree therefore stays is said when it comes to that.
    if (!(error instanceof GitFailed)) return;
  }
  throw new Refusal(
    'UNKNOWN_COMMIT',
    `merge_commit: the repository has no one commit ${JSON.stringify(commit)}.`,
    'Give the full hash of the commit that merged the branch, as the server sees the repository.',
    { field: 'merge_commit', workspace_id: row.id, merge_commit: commit },
  );
}

interface WorktreeClosing {
  readonly row: WorktreeRow;
  readonly changed: boolean;
  /** Set where it must now be taken from disk. */
  readonly leased?: LeasedWorktree;
}

/** Records the new status, and that the worktree is about to go. Asked again, it is tried again as long as it is still there. */
export async function beginClosing(tx: Tx, ctx: WriteContext, input: Closing): Promise<WorktreeClosing> {
  const row = await requireWorktree(tx.db, tx.workspace, input.id, 'id');
  const changed = requireClosable(row, input);
  if (row.step === 'creating' && changed) {
    throw invalidState(`Workspace ${row.id} is still being made.`, 'Call again in a few seconds.', { field: 'id', workspace_id: row.id });
  }
  if (input.agent_id !== undefined) await requireOwnAgent(tx.db, ctx.principal, input.agent_id);
  const isManaged = row.made_by_server === 1;
  // One that was kept, or whose removal nobody finished, is tried again.
  const isLeft = row.kept_reason !== null || row.step === 'removing';
  const goes = isManaged && input.status !== 'active' && (changed || isLeft) && !isUnderWay(row, tx.now);
  if (goes) await requireNobodyElse(tx, ctx, row, input.agent_id);
  const values = {
    ...(changed ? { status: input.status, merge_commit: input.merge_commit ?? null, closed_at: tx.now, updated_at: tx.now } : {}),
    ...(goes ? lease('removing', tx.now) : {}),
  };
  if (!changed && !goes) return { row, changed };
  await changeWorktree(tx.db, row, values);
  if (changed) {
    const payload = { workflow_id: row.workflow_id, branch: row.branch, merge_commit: input.merge_commit };
    record(tx, ctx, { category: 'work', kind: `worktree.${input.status}`, subject: row.id, payload });
  }
  const now = { ...row, ...values };
  return goes ? { row: now, changed, leased: now as LeasedWorktree } : { row: now, changed };
}

/** It is not taken from under an agent that works in it, except by that agent. */
async function requireNobodyElse(tx: Tx, ctx: WriteContext, row: WorktreeRow, agentId: string | undefined): Promise<void> {
  for (const task of await tasksHeldIn(tx.db, tx.workspace, row.id)) await requireHold(tx, ctx, task, { agent_id: agentId });
}

/**
 * Takes the worktree and its branch from disk, if and only if nothing is lost by it; otherwise says why not. Never cut short by
 * the end of a call: half a removal would look like somebody's deletions.
 */
async function removeFromDisk({ disk, ...outside }: WorktreeOutside, row: WorktreeRow): Promise<string | null> {
  try {
    const { root } = await reachRepository({ disk, ...outside }, row.repository_path);
    const against = { branch: row.branch, base: row.base_branch, mergeCommit: row.merge_commit, passing: TASK_BRANCHES };
    const state = await disk.worktreeState(root, row.path, against);
    const reason = reasonToKeep(state, row);
    if (reason !== null) return reason;
    if (state.listed) await disk.removeWorktree(root, row.path);
    // If it has moved on since it was looked at, it stays.
    if (state.branchTip !== null) await disk.deleteBranch(root, row.branch, state.branchTip);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Of one that nobody was told of, also what git left when it was stopped in the middle. */
export async function clearFromDisk(outside: WorktreeOutside, row: WorktreeRow): Promise<string | null> {
  try {
    const { root } = await reachRepository(outside, row.repository_path);
    await outside.disk.discardUnfinished(root, row.path);
  } catch {
    // Whatever could not be reached or cleared is found, and told, by the removal.
  }
  return await removeFromDisk(outside, row);
}

/** The second half of closing one: what became of it on disk is put on record. */
export async function carryOutRemoval(outside: WorktreeOutside, runner: StepRunner, leased: LeasedWorktree): Promise<string | null> {
  const kept_reason = await removeFromDisk(outside, leased);
  await runner.write(async (tx) => {
    const row = await stillMine(tx, leased);
    if (!row) return;
    await changeWorktree(tx.db, row, { ...STEP_OVER, kept_reason, updated_at: tx.now });
    const kind = kept_reason === null ? 'worktree.removed' : 'worktree.kept';
    const payload = { workflow_id: row.workflow_id, branch: row.branch, ...(kept_reason === null ? {} : { reason: kept_reason.slice(0, 200) }) };
    tx.append({ category: 'work', kind, actor: runner.actor, subject: row.id, payload });
  });
  return kept_reason;
}
