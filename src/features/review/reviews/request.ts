import type { CallContext } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { invalidState, notFound, ok, Refusal, type Refused, type Reply } from '../../../kernel/reply.ts';
import { stepRunner } from '../../../kernel/step.ts';
import type { Tx } from '../../../storage/write.ts';
import { reviewLimits } from '../../core/settings/index.ts';
import {
  allows,
  carryOutStart,
  changeInstance,
  foldersIn,
  type InstanceOutside,
  type InstancePorts,
  type InstanceRow,
  isAtLimit,
  isReviewBeingStarted,
  type LeasedInstance,
  requireInstance,
  reserve,
  reviewsAllowed,
  reviewsOf,
  startFailed,
} from '../instances/index.ts';
import { callingInstance, requireType } from './caller.ts';
import type { requestReview } from './contract.ts';
import { refuseAtLimit } from './limits.ts';
import { reviewPrompt } from './prompt.ts';

type ReviewRequestInput = Input<typeof requestReview>;

/** Who asks, what there is to review, whether it may; then it is written down, and carried out or undone. */
export async function runRequest(
  outside: InstanceOutside,
  ports: InstancePorts,
  input: ReviewRequestInput,
  ctx: CallContext,
): Promise<Reply<Output<typeof requestReview>>> {
  const caller = await callingInstance(ctx, outside.machine);
  requireType(caller, 'coding', 'coding agents may spawn review agents');
  requireFree(caller);
  const ready = await requireReady(outside, caller, ctx.signal).catch((error: unknown) => {
    throw startFailed(error);
  });
  const actor = ctx.principal.actor;
  const begun = await ctx.write((tx) => begin(tx, outside, ports, actor, caller.id, ready, input));
  if ('refusal' in begun) return begun.refusal;
  const runner = stepRunner(ctx, ctx.signal);
  const started = await carryOutStart(outside, ports, runner, begun.leased);
  if ('failure' in started) throw startFailed(started.failure);
  const { id, session_name, worktree_path } = started.row;
  return ok({ review_instance_id: id, session_name, worktree_path, branch_name: caller.branch_name });
}

function requireFree({ id, status, step }: InstanceRow): void {
  if (status === 'waiting_review') throw inProgress(id);
  if (step === 'pull') throw new Refusal('BUSY', `${id} is creating a pull request at this moment.`, 'Wait for its answer.', { status });
  if (allows('review requested', status)) return;
  throw invalidState(`${id} is ${status}: its work is not reviewed any more.`, 'Nothing is left for you to do here.', { status });
}

const inProgress = (id: string): Refusal =>
  new Refusal('REVIEW_IN_PROGRESS', `The work of ${id} is being reviewed already.`, 'Wait: you are told when there is feedback.');

/** One transaction counts and reserves: of two requests at once one gets the iteration, and the other sees that a review is being started. */
async function begin(
  tx: Tx,
  outside: InstanceOutside,
  ports: InstancePorts,
  actor: string,
  id: string,
  ready: ReviewReadiness,
  { reviewer_prompt, completion_message }: ReviewRequestInput,
): Promise<{ leased: LeasedInstance } | { refusal: Refused }> {
  const coding = await requireInstance(tx.db, tx.workspace, id);
  requireFree(coding);
  if (await isReviewBeingStarted(tx.db, tx.workspace, id)) throw inProgress(id);
  const ran = await reviewsOf(tx.db, tx.workspace, id);
  const limits = await reviewLimits(tx.db, tx.workspace);
  const allowed = reviewsAllowed(coding, limits);
  if (isAtLimit(ran.length, allowed)) return { refusal: await refuseAtLimit(tx, actor, coding, ran.length, limits) };
  const iteration = Math.max(0, ...ran.map(({ review_iteration }) => review_iteration)) + 1;
  const asked = { coding, ready, iteration, maxIterations: allowed, reviewerPrompt: reviewer_prompt, completionMessage: completion_message };
  // Whoever asks is at work, and has heard what there was to hear.
  await changeInstance(tx.db, coding, { news: null, last_activity: tx.now });
  const leased = await reserve(tx, outside, ports, actor, {
    type: 'review',
    agent: coding.agent,
    developer: coding.developer_id,
    repository: coding.repository,
    baseBranch: coding.branch_name,
    baseCommit: ready.tip,
    issue: coding.issue_number,
    folders: ready.folders,
    prompt: (review) => reviewPrompt(review, asked),
    parent: { id, iteration },
  });
  return { leased };
}

/** What there is to review. */
export interface ReviewReadiness {
  readonly tip: string;
  /** Where the base branch stands. */
  readonly base: string;
  /** What is not committed, in words: the review does not see it. */
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
