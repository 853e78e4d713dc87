import { notFound, Refusal } from '../../../kernel/reply.ts';
import { foldersIn, type InstanceOutside, type InstanceRow } from '../instances/index.ts';

/** The work to review. */
export interface ReviewReadiness {
  readonly tip: string;
  /** The tip of the base branch. */
  readonly base: string;
  /** Describes uncommitted changes, which are not part of the review. Null if there are none. */
  readonly uncommitted: string | null;
  /** Names of the worktree folders that already exist for this repository. */
  readonly folders: readonly string[];
}

/** Refuses unless the caller's own branch is checked out in the caller's worktree and has changes against its base branch. */
export async function requireReady({ disk }: InstanceOutside, row: InstanceRow, signal: AbortSignal): Promise<ReviewReadiness> {
  const { repository, worktree_path, branch_name, base_branch } = row;
  const against = { branch: branch_name, base: base_branch, mergeCommit: null, passing: 'work/' };
  const tip = await disk.resolveCommit(repository, `refs/heads/${branch_name}`, { signal });
  if (tip === null) {
    throw new Refusal(
      'BRANCH_NOT_FOUND',
      `The branch ${branch_name} does not exist.`,
      `Create it again with \`git branch ${branch_name} COMMIT\`, where COMMIT is the last commit of the work, then repeat the call. If you do not know that commit, tell your user that the branch was deleted.`,
      { branch_name },
    );
  }
  const state = await disk.worktreeState(repository, worktree_path, against, { signal });
  if (!state.listed || !state.exists) {
    throw notFound(
      'WORKTREE_NOT_FOUND',
      `The worktree of ${row.id} does not exist any more: ${worktree_path}.`,
      'Tell your user that the worktree is missing.',
    );
  }
  if (state.branch !== branch_name) {
    const there = state.branch ?? 'a detached HEAD';
    throw new Refusal(
      'WRONG_BRANCH',
      `${there} is checked out in your worktree, not ${branch_name}.`,
      `Run \`git checkout ${branch_name}\`, bring your commits there, then repeat the call.`,
      { branch_name },
    );
  }
  if (branch_name === (await disk.defaultBranch(repository, { signal }))) {
    throw new Refusal(
      'DEFAULT_BRANCH',
      `${branch_name} is the default branch, which cannot be reviewed.`,
      "Tell your user: the branch of this instance is the repository's default branch. A new instance gets its own: `covenant instances start --type coding --prompt TEXT`.",
      { branch_name },
    );
  }
  const base = await disk.resolveCommit(repository, `refs/heads/${base_branch}`, { signal });
  if (base === null) {
    throw new Refusal(
      'BASE_BRANCH_NOT_FOUND',
      `The base branch ${base_branch} does not exist, so there is nothing to compare with.`,
      `Ask your user to restore the branch ${base_branch}.`,
      {
        base_branch,
      },
    );
  }
  if (!(await disk.hasChanges(repository, base, tip, { signal }))) {
    const next =
      state.dirty === null
        ? 'Do the work and commit it first, then repeat the call.'
        : 'Commit your work first, then repeat the call: only commits are reviewed.';
    throw new Refusal('NO_CHANGES', `${branch_name} has no changes against ${base_branch}.`, next, { branch_name, base_branch });
  }
  return { tip, base, uncommitted: state.dirty, folders: await foldersIn({ disk }, repository, signal) };
}
