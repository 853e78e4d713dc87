import type { CallContext } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { invalidState, ok, Refusal, type Refused, type Reply } from '../../../kernel/reply.ts';
import { stepRunner } from '../../../kernel/step.ts';
import type { Tx } from '../../../storage/write.ts';
import { reviewLimits } from '../../core/settings/index.ts';
import {
  allows,
  carryOutStart,
  changeInstance,
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
import { requestReview } from './contract.ts';
import { refuseAtLimit } from './limits.ts';
import { reviewPrompt } from './prompt.ts';
import { type ReviewReadiness, requireReady } from './readiness.ts';

type ReviewRequestInput = Input<typeof requestReview>;

/** Checks the caller, its work and its review limit. Then reserves a review and starts the review agent. If the start fails, undoes the reservation. */
export async function runRequest(
  outside: InstanceOutside,
  ports: InstancePorts,
  input: ReviewRequestInput,
  ctx: CallContext,
): Promise<Reply<Output<typeof requestReview>>> {
  const caller = await callingInstance(ctx, outside.machine);
  requireType(caller, requestReview, 'coding agents can request reviews');
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
  if (status === 'waiting_review') throw reviewInProgress(id);
  if (step === 'pull') throw new Refusal('BUSY', `${id} is creating a pull request.`, 'Wait for the result of create_pull_request.', { status });
  if (allows('review requested', status)) return;
  throw invalidState(`${id} is ${status}, so its work cannot be reviewed any more.`, 'Stop: nothing is left to do.', { status });
}

const reviewInProgress = (id: string): Refusal =>
  new Refusal(
    'REVIEW_IN_PROGRESS',
    `The work of ${id} is already being reviewed.`,
    'Wait for the message with the feedback. Without a terminal, end your turn.',
  );

/**
 * Counts the reviews and reserves the next one in the same transaction. If two requests arrive at the same time, one of them gets the review, and the
 * other is refused because a review is being started.
 */
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
  if (await isReviewBeingStarted(tx.db, tx.workspace, id)) throw reviewInProgress(id);
  const ran = await reviewsOf(tx.db, tx.workspace, id);
  const limits = await reviewLimits(tx.db, tx.workspace);
  const allowed = reviewsAllowed(coding, limits);
  if (isAtLimit(ran.length, allowed)) return { refusal: await refuseAtLimit(tx, actor, coding, ran.length, limits) };
  const iteration = Math.max(0, ...ran.map(({ review_iteration }) => review_iteration)) + 1;
  const asked = { coding, ready, iteration, maxIterations: allowed, reviewerPrompt: reviewer_prompt, completionMessage: completion_message };
  // The caller is running, so it has already received the stored news.
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
