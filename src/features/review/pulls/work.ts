import { Refusal } from '../../../kernel/errors.ts';
import type { Db } from '../../../storage/engine.ts';
import { type InstanceRow, requireInstance, reviewBeingStarted, reviewedBy } from '../instances/index.ts';
import { feedbackOf } from '../reviews/index.ts';

/** Whose work the caller may make a pull request of: its own, or of a review agent that which it reviews. And whether it may now. */
export async function requireWork(db: Db, caller: InstanceRow): Promise<InstanceRow> {
  if (caller.type === 'review') return await requireReviewed(db, caller);
  requireIdle(caller, caller);
  if (caller.status === 'waiting_review' || (await reviewBeingStarted(db, caller.workspace_id, caller.id))) {
    throw new Refusal('REVIEW_IN_PROGRESS', `The work of ${caller.id} is being reviewed.`, 'Wait: you are told how the review ends.');
  }
  if (caller.status !== 'started' && caller.status !== 'pr_created') throw over(caller);
  return caller;
}

async function requireReviewed(db: Db, review: InstanceRow): Promise<InstanceRow> {
  const relationship = await reviewedBy(db, review.workspace_id, review.id);
  if (!relationship) {
    const next = 'Only a review agent that request_review has started can approve.';
    throw new Refusal('RELATIONSHIP_NOT_FOUND', `${review.id} reviews nobody's work.`, next);
  }
  if (review.status !== 'started' || relationship.ended_at !== null) throw over(review);
  if ((await feedbackOf(db, review.workspace_id, review.id)).length > 0) {
    throw new Refusal('FEEDBACK_ALREADY_SENT', `${review.id} has sent its feedback.`, 'You are done: a review says its word once.');
  }
  const work = await requireInstance(db, review.workspace_id, relationship.parent_instance);
  requireIdle(work, review);
  if (work.status !== 'waiting_review') throw over(work);
  return work;
}

function requireIdle(work: InstanceRow, caller: InstanceRow): void {
  if (work.step === null) return;
  if (work.step === 'ending') throw over(work);
  const what = { pull: 'its pull request is being made', issues: 'its issues are being created' }[work.step as string] ?? 'its agent is being started';
  throw new Refusal('BUSY', `${work.id} is busy: ${what}.`, 'Call again in a minute.', work.id === caller.id ? {} : { target_instance_id: work.id });
}

function over({ id, status, pr_number, pr_url }: InstanceRow): Refusal {
  const pull = pr_number === null ? {} : { pr_number, pr_url };
  const next = status === 'pr_closed' ? 'A person has closed its pull request and can reopen it on GitHub.' : 'Nothing is left for you to do here.';
  return new Refusal('INVALID_STATE', `${id} is ${status}: no pull request is made of its work.`, next, { status, ...pull });
}
