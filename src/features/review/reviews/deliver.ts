import type { Hand } from '../../../kernel/step.ts';
import type { Db } from '../../../storage/engine.ts';
import type { ReviewFeedbackRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { reviewLimits } from '../../core/settings/index.ts';
import {
  changeInstance,
  type InstancePorts,
  type InstanceRow,
  isGivenUp,
  LAST_WORDS_MS,
  type Outside,
  requireInstance,
  reviewedBy,
  reviewOver,
  withNews,
} from '../instances/index.ts';
import { type Counted, countFailed } from './failed.ts';
import { type Merged, merge } from './merge.ts';
import { LEASE_OVER, type Leased, stillMine } from './step.ts';
import { changeFeedback } from './store.ts';
import { inWords } from './told.ts';

/** From what the reviewer said to what the coding agent has, once. Undefined where another has taken over. */
export async function deliver(outside: Outside, ports: InstancePorts, hand: Hand, db: Db, leased: Leased): Promise<ReviewFeedbackRow | undefined> {
  const coding = await requireInstance(db, leased.workspace_id, leased.coding_instance);
  const review = await requireInstance(db, leased.workspace_id, leased.review_instance);
  const merged = await merge(outside, hand, leased, review, coding);
  return merged && (await hand.write((tx) => settle(tx, ports, hand.actor, merged)));
}

/** Delivered, the review over, the parent free and told, its failed review counted: all or nothing of it. */
async function settle(tx: Tx, ports: InstancePorts, actor: string, { at, commit, reason }: Merged): Promise<ReviewFeedbackRow | undefined> {
  const row = await stillMine(tx, at);
  if (!row) return undefined;
  const delivered = reason === null ? ('merged' as const) : ('message' as const);
  const values = { ...LEASE_OVER, git_commit_hash: commit, delivered, reason };
  await changeFeedback(tx.db, row, values);
  const review = await requireInstance(tx.db, tx.workspace, row.review_instance);
  const coding = await requireInstance(tx.db, tx.workspace, row.coding_instance);
  const { abandoned } = await endReview(tx, ports, actor, row, review, coding, { commit, reason });
  const payload = {
    feedback_type: row.feedback_type,
    priority: row.priority,
    review: review.id,
    coding: coding.id,
    review_iteration: row.review_iteration,
    git_commit_hash: commit,
    delivered,
    ...(reason === null ? {} : { reason: reason.slice(0, 200) }),
    abandoned,
  };
  tx.append({ category: 'work', kind: 'review.feedback', actor, subject: row.id, payload });
  return { ...row, ...values };
}

async function endReview(
  tx: Tx,
  ports: InstancePorts,
  actor: string,
  row: ReviewFeedbackRow,
  review: InstanceRow,
  coding: InstanceRow,
  how: Pick<Merged, 'commit' | 'reason'>,
): Promise<Pick<Counted, 'abandoned'>> {
  const relationship = await reviewedBy(tx.db, tx.workspace, review.id);
  if (relationship?.ended_at != null) {
    // A person has ended it meanwhile. What it said has been delivered all the same, and its agent must know.
    const { news, ...told } = inWords(row, { ...how, abandoned: false });
    if (coding.ended_at === null) await ports.tell(tx, { from: review.agent_id, to: coding.agent_id, actor, ...told });
    if (coding.status === 'started') await changeInstance(tx.db, coding, { news: withNews(coding, news) });
    return { abandoned: false };
  }
  const limits = await reviewLimits(tx.db, tx.workspace);
  const willEnd = row.feedback_type === 'needs_work' && isGivenUp(coding.failed_reviews + 1, limits);
  const { news, ...told } = inWords(row, { ...how, abandoned: willEnd });
  const outcome = { outcome: row.feedback_type, reason: `it sent its feedback (${row.feedback_type})`, told, news };
  await reviewOver(tx, ports, review, { actor, ...outcome, delivered: true, graceMs: LAST_WORDS_MS });
  const after = await requireInstance(tx.db, tx.workspace, coding.id);
  if (row.feedback_type !== 'needs_work' || after.status !== 'started') return { abandoned: false };
  return await countFailed(tx, actor, after, limits, 0);
}
