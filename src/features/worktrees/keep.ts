import type { WorktreeState } from '../../machine/worktree-state.ts';
import type { WorktreeRow } from './tables.ts';

/** Why a worktree must stay where it is; null: nothing is lost when it goes. */
export function reasonToKeep(state: WorktreeState, { branch, base_branch }: Pick<WorktreeRow, 'branch' | 'base_branch'>): string | null {
  const reasons = [
    state.exists && !state.listed ? 'there is a folder at its path that is not a worktree of the repository' : null,
    state.locked === null ? null : `it is locked (${state.locked})`,
    state.inProgress === null ? null : `a ${state.inProgress} is in progress`,
    state.dirty,
    state.inner === null ? null : `another repository or worktree lies in it (${state.inner})`,
    state.submodules ? 'it has submodules, whose commits git keeps with it' : null,
    // Somebody uses it for something else; and a commit that is made on a detached HEAD at this moment would be lost.
    state.listed && state.branch !== branch ? (state.branch === null ? 'its HEAD is detached' : `branch ${state.branch} is checked out in it`) : null,
    state.unsaved > 0
      ? `${state.unsaved} commit(s) are neither in ${base_branch ?? 'a base branch'}, in a merge commit on a lasting branch, nor on a remote`
      : null,
  ].filter((reason) => reason !== null);
  return reasons.length > 0 ? reasons.join('; ') : null;
}
