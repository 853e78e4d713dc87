import type { WorktreeState } from './worktree-state.ts';

interface Belonging {
  readonly branch: string;
  readonly base_branch: string | null;
}

/** Why a worktree must stay where it is; null: nothing is lost when it goes. */
export function reasonToKeep(state: WorktreeState, place: Belonging): string | null {
  return joined([...beyondBackup(state), ...coveredByBackup(state, place)]);
}

/** Why it must stay even though a backup of its work can be made. */
export const reasonAgainstForce = (state: WorktreeState): string | null => joined(beyondBackup(state));

const beyondBackup = (state: WorktreeState) => [
  state.exists && !state.listed ? 'there is a folder at its path that is not a worktree of the repository' : null,
  state.locked === null ? null : `it is locked (${state.locked})`,
  state.inner === null ? null : `another repository or worktree lies in it (${state.inner})`,
  state.submodules ? 'it has submodules, whose commits git keeps with it' : null,
];

const coveredByBackup = (state: WorktreeState, { branch, base_branch }: Belonging) => [
  state.inProgress === null ? null : `a ${state.inProgress} is in progress`,
  state.dirty,
  // Somebody uses it for something else; and a commit that is made on a detached HEAD at this moment would be lost.
  state.listed && state.branch !== branch ? (state.branch === null ? 'its HEAD is detached' : `branch ${state.branch} is checked out in it`) : null,
  state.unsaved > 0
    ? `${state.unsaved} commit(s) are neither in ${base_branch ?? 'a base branch'}, in a merge commit on a lasting branch, nor on a remote`
    : null,
];

function joined(reasons: readonly (string | null)[]): string | null {
  const given = reasons.filter((reason) => reason !== null);
  return given.length > 0 ? given.join('; ') : null;
}
