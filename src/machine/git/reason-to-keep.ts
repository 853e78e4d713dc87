import type { WorktreeState } from './worktree-state.ts';

interface Belonging {
  readonly branch: string;
  readonly base_branch: string | null;
}

/** Returns why a worktree must not be removed, or null if nothing would be lost. */
export function reasonToKeep(state: WorktreeState, place: Belonging): string | null {
  return joined([...beyondBackup(state), ...coveredByBackup(state, place)]);
}

/** Returns why a worktree must not be removed even after its work was backed up, or null. */
export const reasonAgainstForce = (state: WorktreeState): string | null => joined(beyondBackup(state));

const beyondBackup = (state: WorktreeState) => [
  state.exists && !state.listed ? 'the folder at its path is not a worktree of the repository' : null,
  state.locked === null ? null : `it is locked (${state.locked})`,
  state.inner === null ? null : `it contains another repository or worktree (${state.inner})`,
  state.submodules ? 'it has submodules, and git keeps their commits inside it' : null,
];

const coveredByBackup = (state: WorktreeState, { branch, base_branch }: Belonging) => [
  state.inProgress === null ? null : `a ${state.inProgress} is in progress`,
  state.dirty,
  // Someone uses the worktree for other work. A commit on a detached HEAD is on no branch, so it would be lost with the worktree.
  state.listed && state.branch !== branch ? (state.branch === null ? 'its HEAD is detached' : `branch ${state.branch} is checked out in it`) : null,
  state.unsaved > 0
    ? `${state.unsaved} commit(s) are not in ${base_branch ?? 'a base branch'}, not in a merge commit on a permanent branch, and not on a remote`
    : null,
];

function joined(reasons: readonly (string | null)[]): string | null {
  const given = reasons.filter((reason) => reason !== null);
  return given.length > 0 ? given.join('; ') : null;
}
