import type { CallContext } from '../../../kernel/context.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { ok, type Refused, type Reply, refused } from '../../../kernel/reply.ts';
import type { Hand } from '../../../kernel/step.ts';
import type { Tx } from '../../../storage/write.ts';
import { type Limits, reviewLimits } from '../../core/settings/index.ts';
import {
  allows,
  carryOutStart,
  changeInstance,
  type InstancePorts,
  type InstanceRow,
  isAtLimit,
  LAST_WORDS_MS,
  type Leased,
  type Outside,
  requireInstance,
  reserve,
  reviewBeingStarted,
  reviewsAllowed,
  reviewsOf,
  SUGGESTIONS,
  startFailed,
} from '../instances/index.ts';
import { callingInstance, requireType } from './caller.ts';
import type { requestReview } from './contract.ts';
import { countFailed } from './failed.ts';
import { reviewPrompt } from './prompts.ts';
import { type Ready, requireReady } from './readiness.ts';

type Wanted = Input<typeof requestReview>;

/** Who asks, what there is to review, whether it may; then it is written down, and carried out or undone. */
export async function runRequest(outside: Outside, ports: InstancePorts, input: Wanted, ctx: CallContext): Promise<Reply<Output<typeof requestReview>>> {
  const caller = await callingInstance(ctx, outside.machine);
  requireType(caller, 'coding', 'coding agents may spawn review agents');
  requireFree(caller);
  const ready = await requireReady(outside, caller, ctx.signal).catch((error: unknown) => {
    throw startFailed(error);
  });
  const actor = ctx.principal.actor;
  const begun = await ctx.write((tx) => begin(tx, outside, ports, actor, caller.id, ready, input));
  if ('refusal' in begun) return begun.refusal;
  const hand: Hand = { actor, signal: ctx.signal, write: (callback) => ctx.settle(callback) };
  const started = await carryOutStart(outside, ports, hand, begun.leased);
  if ('failure' in started) throw startFailed(started.failure);
  const { id, session_name, worktree_path } = started.row;
  return ok({ review_instance_id: id, session_name, worktree_path, branch_name: caller.branch_name });
}

function requireFree({ id, status, step }: InstanceRow): void {
  if (status === 'waiting_review') throw inProgress(id);
  if (step === 'pull') throw new Refusal('BUSY', `${id} is creating a pull request at this moment.`, 'Wait for its answer.', { status });
  if (allows('review requested', status)) return;
  throw new Refusal('INVALID_STATE', `${id} is ${status}: its work is not reviewed any more.`, 'Nothing is left for you to do here.', { status });
}

const inProgress = (id: string): Refusal =>
  new Refusal('REVIEW_IN_PROGRESS', `The work of ${id} is being reviewed already.`, 'Wait: you are told when there is feedback.');

/** One transaction counts and reserves: of two requests at once one gets the iteration, and the other sees that a review is being started. */
async function begin(
  tx: Tx,
  outside: Outside,
  ports: InstancePorts,
  actor: string,
  id: string,
  ready: Ready,
  { reviewer_prompt, completion_message }: Wanted,
): Promise<{ leased: Leased } | { refusal: Refused }> {
  const coding = await requireInstance(tx.db, tx.workspace, id);
  requireFree(coding);
  if (await reviewBeingStarted(tx.db, tx.workspace, id)) throw inProgress(id);
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

/** A reply and no exception: that it was refused is counted. */
async function refuseAtLimit(tx: Tx, actor: string, coding: InstanceRow, ran: number, limits: Limits): Promise<Refused> {
  const { failed, abandoned } = await countFailed(tx, actor, coding, limits, LAST_WORDS_MS);
  const allowed = reviewsAllowed(coding, limits);
  const counters = { current_iteration: ran, max_iterations: allowed, failed_reviews: failed };
  tx.append({ category: 'work', kind: 'review.limit_exceeded', actor, subject: coding.id, payload: { ...counters, abandoned } });
  const next = abandoned ? `${coding.id} is abandoned after ${failed} failed reviews and ends now. Stop.` : SUGGESTIONS[0];
  return refused('error', CODE, `Maximum review iterations (${allowed}) reached for agent ${coding.id}`, next, {
    error: CODE,
    suggestions: SUGGESTIONS,
    ...counters,
    auto_abandon_after: limits.autoAbandonAfter,
    status: abandoned ? 'abandoned' : coding.status,
  });
}
const CODE = 'REVIEW_LIMIT_EXCEEDED';
