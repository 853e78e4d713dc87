import { type Refused, refused } from '../../../kernel/reply.ts';
import type { Tx } from '../../../storage/write.ts';
import type { ReviewLimits } from '../../core/settings/index.ts';
import { beginEnding, changeInstance, EXIT_GRACE_MS, type InstanceRow, isGivenUp, reviewsAllowed, SUGGESTIONS } from '../instances/index.ts';

const CODE = 'REVIEW_LIMIT_EXCEEDED';

/**
 * Counts the refused request as a failed review. The refusal is returned and not thrown, because an exception would roll back the transaction and with
 * it the count.
 */
export async function refuseAtLimit(tx: Tx, actor: string, coding: InstanceRow, ran: number, limits: ReviewLimits): Promise<Refused> {
  const { failed, abandoned } = await countFailedReview(tx, actor, coding, limits, EXIT_GRACE_MS);
  const allowed = reviewsAllowed(coding, limits);
  const counters = { current_iteration: ran, max_iterations: allowed, failed_reviews: failed };
  tx.append({ category: 'work', kind: 'review.limit_exceeded', actor, subject: coding.id, payload: { ...counters, abandoned } });
  const next = abandoned
    ? `${coding.id} is abandoned after ${failed} failed reviews and ends now. Stop.`
    : `Do not call request_review again. Call create_pull_request with your current commits, or wait until a person runs \`covenant instances allow ${coding.id}\`.`;
  return refused('error', CODE, `Maximum review iterations (${allowed}) reached for agent ${coding.id}`, next, {
    error: CODE,
    suggestions: SUGGESTIONS,
    ...counters,
    auto_abandon_after: limits.autoAbandonAfter,
    status: abandoned ? 'abandoned' : coding.status,
  });
}

export interface FailedReviewCount {
  readonly failed: number;
  readonly abandoned: boolean;
}

/**
 * Counts one more failed review. If the number reaches the limit, the instance is abandoned in the same transaction. The sweep then removes the
 * instance from the machine after `graceMs`.
 */
export async function countFailedReview(tx: Tx, actor: string, row: InstanceRow, limits: ReviewLimits, graceMs: number): Promise<FailedReviewCount> {
  const failed = row.failed_reviews + 1;
  if (!isGivenUp(failed, limits)) {
    await changeInstance(tx.db, row, { failed_reviews: failed, updated_at: tx.now });
    return { failed, abandoned: false };
  }
  const status_reason = `${failed} failed reviews, the limit is ${limits.autoAbandonAfter}`;
  await beginEnding(tx, row, { failed_reviews: failed, status: 'abandoned', status_reason, news: null }, { force: false }, graceMs);
  tx.append({ category: 'work', kind: 'instance.abandoned', actor, subject: row.id, payload: { automatic: true, failed_reviews: failed } });
  return { failed, abandoned: true };
}
