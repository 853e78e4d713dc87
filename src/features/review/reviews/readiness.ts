import { notFound, Refusal } from '../../../kernel/reply.ts';
import { foldersIn, type InstanceOutside, type InstanceRow } from '../instances/index.ts';

/** The work to review. */
export interface ReviewReadiness {
  readonly tip: string;
  /** Where the base branch stands. */
  readonly base: string;
  /** Uncommitted changes in words: the review does not see them. */
  readonly uncommitted: string | null;
  /** Worktrees that are there already. */
  readonly folders: readonly string[];
}

/** The caller's own branch, checked out in its own worktree, with something on it that its base has not. */
export async function requireReady({ disk }: InstanceOutside, row: InstanceRow, signal: AbortSignal): Promise<ReviewReadiness> {
  const { repository, worktree_path, branch_name, base_branch } = row;
  const against = { branch: branch_name, base: base_branch, mergeCommit: null, passing: 'work/' };
  const tip = await disk.resolveCommit(repository, `refs/heads/${branch_name}`, { signal });
  if (tip === null) {
    throw new Refusal('BRANCH_NOT_FOUND', `There is no branch ${branch_name}.`, 'Make it again at the commit that is to be reviewed.', { branch_name });
  }
  const state = await disk.worktreeState(repository, worktree_path, against, { signal });
  if (!state.listed || !state.exists) {
    throw notFound('WORKTREE_NOT_FOUND', `The worktree of ${row.id} is not there any more: ${worktree_path}.`, 'Tell the person whom you work for.');
  }
  if (state.branch !== branch_name) {
    const there = state.branch ?? 'a detached HEAD';
    throw new Refusal(
      'WRONG_BRANCH',
      `${there} is checked out in your worktree, not ${branch_name}.`,
      `Check out ${branch_name} and bring your commits there.`,
      { branch_name },
    );
  }
  if (branch_name === (await disk.defaultBranch(repository, { signal }))) {
    throw new Refusal('DEFAULT_BRANCH', `${branch_name} is the default branch, which is not reviewed.`, 'Work on a branch of your own.', { branch_name });
  }
  const base = await disk.resolveCommit(repository, `refs/heads/${base_branch}`, { signal });
  if (base === null) {
    throw new Refusal('BASE_BRANCH_NOT_FOUND', `There is no branch ${base_branch} to compare with.`, 'Let the person whom you work for bring it back.', {
      base_branch,
    });
  }
  if (!(await disk.hasChanges(repository, base, tip, { signal }))) {
    const next = state.dirty === null ? 'Do the work and commit it first.' : 'Commit your work first: only what is committed is reviewed.';
    throw new Refusal('NO_CHANGES', `${branch_name} has no changes against ${base_branch}.`, next, { branch_name, base_branch });
  }
  return { tip, base, uncommitted: state.dirty, folders: await foldersIn({ disk }, repository, signal) };
}
