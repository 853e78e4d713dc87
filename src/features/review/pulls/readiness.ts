import { Refusal } from '../../../kernel/errors.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import type { Push } from '../../../machine/git/remote.ts';
import type { GitHubRepository } from '../../../machine/github/github.ts';
import type { InstanceRow, Outside } from '../instances/index.ts';
import { requirePlace } from './place.ts';

export interface Ready {
  readonly repository: GitHubRepository;
  readonly push: Push;
  /** What the coding agent has done besides, in words. */
  readonly notIncluded: string | null;
}

/** Everything that can be known to stand in the way of a pull request, before anything is pushed. `reviewed`: the commit that was approved, if any. */
export async function requireReady(outside: Outside, row: InstanceRow, base: string, reviewed: string | null, signal: AbortSignal): Promise<Ready> {
  const { disk, github } = outside;
  const { worktree_path, repository, branch_name } = row;
  const tip = await requireBranch(outside, row, base, signal);
  const place = await requirePlace(outside, row, signal);
  const remote = { signal, address: place.address, access: github.gitAccess(place.address) };
  const baseTip = await disk.remoteBranch(repository, base, remote);
  if (baseTip === null) {
    const known = await disk.defaultBranch(repository, { signal });
    const next =
      known === null || known === base ? 'Name a branch that is there as base_branch.' : `Name another as base_branch: ${known} is the default branch.`;
    throw new Refusal('BASE_BRANCH_NOT_FOUND', `origin has no branch ${JSON.stringify(base)}.`, next, { field: 'base_branch', base_branch: base });
  }
  if ((await disk.resolveCommit(repository, baseTip, { signal })) === null) await disk.fetchBranch(repository, base, remote);
  const uncommitted = await disk.uncommitted(worktree_path, { signal });
  const commit = reviewed ?? tip;
  if (!(await disk.hasChanges(repository, baseTip, commit, { signal }))) {
    const next = uncommitted === null ? 'Do the work and commit it first.' : `Commit your work first: ${uncommitted}.`;
    throw new Refusal('NO_CHANGES', `${branch_name} has no changes against ${base}.`, next, { branch_name, base_branch: base });
  }
  const since = commit === tip ? null : `what was committed since ${commit.slice(0, 12)}, the commit that was reviewed`;
  return {
    repository: place.repository,
    push: { commit, address: remote.address, access: remote.access },
    notIncluded: [since, uncommitted].filter((words) => words !== null).join('; ') || null,
  };
}

async function requireBranch({ disk }: Outside, { repository, branch_name }: InstanceRow, base: string, signal: AbortSignal): Promise<string> {
  const field = { field: 'base_branch' };
  await disk.requireBranchName(repository, base, { signal }).catch((error: unknown) => {
    if (!(error instanceof GitFailed)) throw error;
    throw new Refusal('INVALID_INPUT', `Invalid input: base_branch: ${error.message}.`, 'Name a branch that is on GitHub.', field);
  });
  const tip = await disk.resolveCommit(repository, `refs/heads/${branch_name}`, { signal });
  if (tip === null) {
    throw new Refusal('BRANCH_NOT_FOUND', `There is no branch ${branch_name}.`, 'Make it again at the commit that the pull request is for.', { branch_name });
  }
  if (branch_name === base) {
    throw new Refusal('INVALID_INPUT', `Invalid input: base_branch: ${base} is the branch itself.`, 'Name the branch that the work is for.', field);
  }
  if (branch_name === (await disk.defaultBranch(repository, { signal }))) {
    throw new Refusal('DEFAULT_BRANCH', `${branch_name} is the default branch: there is nothing to pull it into.`, 'Work on a branch of your own.', {
      branch_name,
    });
  }
  return tip;
}
