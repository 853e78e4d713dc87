import { messageOf, STEP_OVER, type StepRunner } from '../../../kernel/step.ts';
import { reasonToKeep } from '../../../machine/git/reason-to-keep.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import { reachRepository, type WorktreeOutside } from './outside.ts';
import { TASK_BRANCHES } from './place.ts';
import { type LeasedWorktree, stillMine } from './step.ts';
import { changeWorktree } from './store.ts';

/** Removes the worktree of a closed workspace from disk, and records the result. */
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

/** Removes a worktree, and also the files of a worktree that git never finished creating. */
export async function clearFromDisk(outside: WorktreeOutside, row: WorktreeRow): Promise<string | null> {
  try {
    const { root } = await reachRepository(outside, row.repository_path);
    await outside.disk.discardUnfinished(root, row.path);
  } catch {
    // The error is ignored here, because the removal below reports the same problem.
  }
  return await removeFromDisk(outside, row);
}

/**
 * Removes the worktree and its branch from disk if no work is lost. Otherwise returns the reason to keep the worktree. If the caller's request ends
 * early, the removal continues, because a half-removed worktree would look as if somebody had deleted files.
 */
async function removeFromDisk({ disk, ...outside }: WorktreeOutside, row: WorktreeRow): Promise<string | null> {
  try {
    const { root } = await reachRepository({ disk, ...outside }, row.repository_path);
    const against = { branch: row.branch, base: row.base_branch, mergeCommit: row.merge_commit, passing: TASK_BRANCHES };
    const state = await disk.worktreeState(root, row.path, against);
    const reason = reasonToKeep(state, row);
    if (reason !== null) return reason;
    if (state.listed) await disk.removeWorktree(root, row.path);
    // Git deletes the branch only if it still points to the commit that was checked.
    if (state.branchTip !== null) await disk.deleteBranch(root, row.branch, state.branchTip);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
