import { invalidState, notFound, Refusal } from '../../../kernel/reply.ts';
import { withoutCredentials } from '../../../kernel/repo.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import type { PushOptions } from '../../../machine/git/remote.ts';
import { GitHubFailed, type GitHubRepository } from '../../../machine/github/github.ts';
import type { Db } from '../../../storage/engine.ts';
import { type InstanceOutside, type InstanceRow, isReviewBeingStarted, requireInstance, reviewedBy } from '../instances/index.ts';
import { feedbackOf } from '../reviews/index.ts';

/** The GitHub repository to which an instance's work is pushed. */
export interface PullPlace {
  readonly address: string;
  readonly repository: GitHubRepository;
}

/** Returns the GitHub repository of the remote `origin`, to which branches are pushed. If something is missing, refuses and says what. */
export async function requirePlace({ github, disk }: InstanceOutside, row: InstanceRow, signal: AbortSignal): Promise<PullPlace> {
  if (!github.hasToken) throw new GitHubFailed('token_missing', 'GITHUB_TOKEN is not set for the server');
  const address = await disk.originOf(row.repository, { signal });
  if (address === null) {
    throw new Refusal(
      'ORIGIN_MISSING',
      'The repository has no remote named origin.',
      'Run `git remote add origin URL` with the address of the GitHub repository, then repeat the call.',
    );
  }
  const repository = github.repositoryAt(address);
  if (repository === null) {
    const next = `Set \`origin\` to a repository on ${github.host}. For another GitHub, the operator sets \`base_url\` under \`[github]\` in config.toml and restarts the server.`;
    throw new Refusal('ORIGIN_NOT_GITHUB', `origin is ${withoutCredentials(address)}, which is not on ${github.host}.`, next, { host: github.host });
  }
  return { address, repository };
}

/**
 * Returns the instance whose work becomes the pull request. This is the caller or, for a review agent, the instance that the caller reviews. Refuses
 * if a pull request is not possible now.
 */
export async function requireWork(db: Db, caller: InstanceRow): Promise<InstanceRow> {
  if (caller.type === 'review') return await requireReviewed(db, caller);
  requireIdle(caller, caller);
  if (caller.status === 'waiting_review' || (await isReviewBeingStarted(db, caller.workspace_id, caller.id))) {
    throw new Refusal(
      'REVIEW_IN_PROGRESS',
      `The work of ${caller.id} is being reviewed.`,
      'Wait for the message with the result of the review. Without a terminal, end your turn.',
    );
  }
  if (caller.status !== 'started' && caller.status !== 'pr_created') throw notPullable(caller);
  return caller;
}

async function requireReviewed(db: Db, review: InstanceRow): Promise<InstanceRow> {
  const relationship = await reviewedBy(db, review.workspace_id, review.id);
  if (!relationship) {
    const next = 'Tell your user: only a review agent that request_review started can approve work.';
    throw notFound('RELATIONSHIP_NOT_FOUND', `${review.id} does not review any work.`, next);
  }
  if (review.status !== 'started' || relationship.ended_at !== null) throw notPullable(review);
  if ((await feedbackOf(db, review.workspace_id, review.id)).length > 0) {
    throw new Refusal('FEEDBACK_ALREADY_SENT', `${review.id} has already sent its feedback.`, 'Stop: a review sends its result once.');
  }
  const work = await requireInstance(db, review.workspace_id, relationship.parent_instance);
  requireIdle(work, review);
  if (work.status !== 'waiting_review') throw notPullable(work);
  return work;
}

function requireIdle(work: InstanceRow, caller: InstanceRow): void {
  if (work.step === null) return;
  if (work.step === 'ending') throw notPullable(work);
  const what = { pull: 'its pull request is being created', issues: 'its issues are being created' }[work.step as string] ?? 'its agent is being started';
  throw new Refusal('BUSY', `${work.id} is busy: ${what}.`, 'Repeat the call in a minute.', work.id === caller.id ? {} : { target_instance_id: work.id });
}

function notPullable({ id, status, pr_number, pr_url }: InstanceRow): Refusal {
  const pull = pr_number === null ? {} : { pr_number, pr_url };
  const next = status === 'pr_closed' ? `A person closed its pull request and can reopen it: ${pr_url}.` : 'Stop: nothing is left to do.';
  return invalidState(`${id} is ${status}, so no pull request can be created for it.`, next, { status, ...pull });
}

export interface PullReadiness {
  readonly repository: GitHubRepository;
  readonly push: PushOptions;
  /** Describes work of the coding agent that the pull request does not include. Null if there is none. */
  readonly notIncluded: string | null;
}

/** Checks all known obstacles to a pull request before anything is pushed. `reviewed` is the commit that a review agent approved, if any. */
export async function requireReady(
  outside: InstanceOutside,
  row: InstanceRow,
  base: string,
  reviewed: string | null,
  signal: AbortSignal,
): Promise<PullReadiness> {
  const { disk, github } = outside;
  const { worktree_path, repository, branch_name } = row;
  const tip = await requireBranch(outside, row, base, signal);
  const place = await requirePlace(outside, row, signal);
  const remote = { signal, address: place.address, access: github.gitAccess(place.address) };
  const baseTip = await disk.remoteBranch(repository, base, remote);
  if (baseTip === null) {
    const known = await disk.defaultBranch(repository, { signal });
    const next =
      known === null || known === base
        ? 'Repeat the call with a `base_branch` that exists on origin.'
        : `Repeat the call with \`base_branch\` ${JSON.stringify(known)}, the default branch.`;
    throw new Refusal('BASE_BRANCH_NOT_FOUND', `origin has no branch ${JSON.stringify(base)}.`, next, { field: 'base_branch', base_branch: base });
  }
  if ((await disk.resolveCommit(repository, baseTip, { signal })) === null) await disk.fetchBranch(repository, base, remote);
  const uncommitted = await disk.uncommitted(worktree_path, { signal });
  const commit = reviewed ?? tip;
  if (!(await disk.hasChanges(repository, baseTip, commit, { signal }))) {
    const next = uncommitted === null ? 'Do the work and commit it first, then repeat the call.' : `Commit your work first: ${uncommitted}.`;
    throw new Refusal('NO_CHANGES', `${branch_name} has no changes against ${base}.`, next, { branch_name, base_branch: base });
  }
  const since = commit === tip ? null : `commits after ${commit.slice(0, 12)}, the reviewed commit`;
  return {
    repository: place.repository,
    push: { commit, address: remote.address, access: remote.access },
    notIncluded: [since, uncommitted].filter((words) => words !== null).join('; ') || null,
  };
}

async function requireBranch({ disk }: InstanceOutside, { repository, branch_name }: InstanceRow, base: string, signal: AbortSignal): Promise<string> {
  const field = { field: 'base_branch' };
  await disk.requireBranchName(repository, base, { signal }).catch((error: unknown) => {
    if (!(error instanceof GitFailed)) throw error;
    throw new Refusal('INVALID_INPUT', `Invalid input: base_branch: ${error.message}.`, 'Repeat the call with a `base_branch` that exists on GitHub.', field);
  });
  const tip = await disk.resolveCommit(repository, `refs/heads/${branch_name}`, { signal });
  if (tip === null) {
    throw new Refusal(
      'BRANCH_NOT_FOUND',
      `The branch ${branch_name} does not exist.`,
      `Create it again with \`git branch ${branch_name} COMMIT\`, where COMMIT is the last commit of the work, then repeat the call. If you do not know that commit, tell your user that the branch was deleted.`,
      { branch_name },
    );
  }
  if (branch_name === base) {
    throw new Refusal(
      'INVALID_INPUT',
      `Invalid input: base_branch: ${base} is the branch of the work itself.`,
      'Repeat the call with `base_branch` set to the branch to merge the work into.',
      field,
    );
  }
  if (branch_name === (await disk.defaultBranch(repository, { signal }))) {
    throw new Refusal(
      'DEFAULT_BRANCH',
      `${branch_name} is the default branch, so it cannot have a pull request.`,
      "Tell your user: the branch of this instance is the repository's default branch. A new instance gets its own: `covenant instances start --type coding --prompt TEXT`.",
      {
        branch_name,
      },
    );
  }
  return tip;
}
