import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput, invalidState, Refusal } from '../../../kernel/reply.ts';
import { isUnderWay } from '../../../kernel/step.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { requireOwnAgent } from '../agents/index.ts';
import { requireHold, requireTransition } from '../workflows/index.ts';
import type { WorktreeStatus, workspaceUpdate } from './contract.ts';
import { reachRepository, type WorktreeOutside } from './outside.ts';
import { type LeasedWorktree, lease } from './step.ts';
import { changeWorktree, requireWorktree, tasksHeldIn } from './store.ts';

const WORKTREE_MACHINE: Readonly<Record<WorktreeStatus, readonly WorktreeStatus[]>> = {
  active: ['merged', 'abandoned'],
  merged: [],
  abandoned: [],
};

/** Checks only the input, not the state of the workspace. */
export function requireStatusChange({ status, merge_commit }: { status?: WorktreeStatus | undefined; merge_commit?: string | undefined }): WorktreeStatus {
  if (merge_commit !== undefined && status !== 'merged') {
    throw invalidInput([{ field: 'merge_commit', message: 'is only allowed with status "merged"' }]);
  }
  if (status === undefined) throw invalidInput([{ field: 'status', message: 'is required: "merged" or "abandoned"' }]);
  return status;
}

type WorktreeUpdate = Omit<Input<typeof workspaceUpdate>, 'status'> & { readonly status: WorktreeStatus };

/** Returns whether the status changes. Returns false if the workspace already has this status, and refuses a change that is not allowed. */
export function requireClosable(row: WorktreeRow, { status, merge_commit }: WorktreeUpdate): boolean {
  if (status !== row.status) requireTransition(WORKTREE_MACHINE, 'workspace', row.id, row.status, status);
  const details = { field: 'merge_commit', workspace_id: row.id };
  if (status === 'merged' && row.status === 'active' && merge_commit === undefined) {
    const next = `Call workspace_update again with id "${row.id}", status "merged" and the hash of the merge commit as merge_commit.`;
    throw new Refusal('MISSING_MERGE_COMMIT', 'Status merged requires merge_commit.', next, details);
  }
  if (row.status === 'merged' && merge_commit !== undefined && merge_commit !== row.merge_commit) {
    throw invalidState(`Workspace ${row.id} is already merged by commit ${row.merge_commit}.`, 'Nothing to do: the recorded commit stays.', details);
  }
  return status !== row.status;
}

/** Refuses a merge commit that does not exist in the repository. If the repository is on another machine, the commit is not checked. */
export async function requireCommit(outside: WorktreeOutside, row: WorktreeRow, commit: string, signal: AbortSignal): Promise<void> {
  try {
    const { root } = await reachRepository(outside, row.repository_path, signal);
    if ((await outside.disk.commitByHash(root, commit, { signal })) !== null) return;
  } catch (error) {
    if (signal.aborted) throw error;
    // Any other error means that this machine cannot reach the repository. The removal will then fail too, and report that the worktree is kept.
    if (!(error instanceof GitFailed)) return;
  }
  throw new Refusal(
    'UNKNOWN_COMMIT',
    `The repository has no unique commit ${JSON.stringify(commit)}.`,
    `Call workspace_update again with id "${row.id}", status "merged" and the full hash as merge_commit. If the commit is only in another clone, push it there and run \`git fetch\` in the server's repository first.`,
    { field: 'merge_commit', workspace_id: row.id, merge_commit: commit },
  );
}

interface WorktreeClosing {
  readonly row: WorktreeRow;
  readonly changed: boolean;
  /** Set if the worktree must now be removed from disk. */
  readonly leased?: LeasedWorktree;
}

/** Records the new status, and that the worktree will be removed from disk. If an earlier removal did not succeed, a repeated call tries it again. */
export async function beginClosing(tx: Tx, ctx: WriteContext, input: WorktreeUpdate): Promise<WorktreeClosing> {
  const row = await requireWorktree(tx.db, tx.workspace, input.id, 'id');
  const changed = requireClosable(row, input);
  if (row.step === 'creating' && changed) {
    throw invalidState(`Workspace ${row.id} is still being created.`, 'Call workspace_update again in a few seconds.', { field: 'id', workspace_id: row.id });
  }
  if (input.agent_id !== undefined) await requireOwnAgent(tx.db, ctx.principal, input.agent_id);
  const isManaged = row.made_by_server === 1;
  // True if an earlier removal kept the worktree or was not finished. The removal is then tried again.
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

/** If an agent has claimed a task in the worktree, only that agent may close the worktree. */
async function requireNobodyElse(tx: Tx, ctx: WriteContext, row: WorktreeRow, agentId: string | undefined): Promise<void> {
  for (const task of await tasksHeldIn(tx.db, tx.workspace, row.id)) await requireHold(tx, ctx, task, { agent_id: agentId });
}
