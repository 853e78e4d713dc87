import { messageOf } from '../../../kernel/step.ts';
import { reasonAgainstForce, reasonToKeep } from '../../../machine/git/reason-to-keep.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import { requireOwn } from './place.ts';
import type { InstanceOutside } from './ports.ts';

type WorktreePlace = Pick<InstanceRow, 'repository' | 'worktree_path' | 'branch_name' | 'base_branch' | 'session_name'>;

export interface RemovalResult {
  /** Why the worktree was kept. Null if it was removed. */
  readonly reason: string | null;
  readonly backup: string | null;
}

/** Commits that exist only on branches of other instances do not count as saved. */
export const branchComparison = ({ branch_name: branch, base_branch: base }: Pick<WorktreePlace, 'branch_name' | 'base_branch'>) => ({
  branch,
  base,
  mergeCommit: null,
  passing: `${branch.split('/')[0]}/`,
});

/**
 * Removes the worktree and its branch if no work would be lost, or if a backup keeps the work. The removal is never interrupted, because git would
 * show the files of a half-removed worktree as deleted.
 */
export async function removeFromDisk(outside: InstanceOutside, row: WorktreePlace, { force }: { force: boolean }): Promise<RemovalResult> {
  const { disk, files } = outside;
  let backup: string | null = null;
  try {
    await requireOwn(outside, row.worktree_path);
    const { repository, worktree_path: path, branch_name: branch, base_branch } = row;
    // The repository itself is missing. It may come back, for example when a disk is mounted, so only a forced removal treats the worktree as removed.
    if (force && !(await files.isFolder(repository)) && !(await files.isFolder(path))) return { reason: null, backup };
    const state = await disk.worktreeState(repository, path, branchComparison(row));
    const reason = reasonToKeep(state, { branch, base_branch });
    if (reason === null) {
      if (state.listed) await disk.removeWorktree(repository, path);
    } else {
      const against = force ? reasonAgainstForce(state) : reason;
      if (against !== null) return { reason: against, backup };
      if (state.listed && state.exists) {
        backup = await disk.backUp(path, row.session_name, branch);
        await disk.forceWorktreeAway(repository, path);
      } else if (state.branchTip !== null) {
        backup = await disk.backUpCommit(repository, row.session_name, state.branchTip);
      }
    }
    // Git deletes the branch only if it still points to the commit that was checked.
    if (state.branchTip !== null) await disk.deleteBranch(repository, branch, state.branchTip);
    return { reason: null, backup };
  } catch (error) {
    return { reason: messageOf(error), backup };
  }
}
