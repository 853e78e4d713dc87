import { messageOf, type StepRunner } from '../../../kernel/step.ts';
import type { FileMerge, PreparedMerge } from '../../../machine/git/merge-file.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows } from '../../../storage/rows.ts';
import type { ReviewFeedbackRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { reviewLimits } from '../../core/settings/index.ts';
import {
  changeInstance,
  concludeReview,
  EXIT_GRACE_MS,
  type InstanceOutside,
  type InstancePorts,
  type InstanceRow,
  isGivenUp,
  requireInstance,
  reviewedBy,
  withNews,
} from '../instances/index.ts';
import { FEEDBACK_FILE, feedbackFile, feedbackNotice } from './feedback-words.ts';
import { countFailedReview, type FailedReviewCount } from './limits.ts';
import { goOn, LEASE_OVER, type LeasedFeedback, stillMine } from './step.ts';

/** Delivers feedback to the coding agent exactly once. Returns undefined if another server has taken over. */
export async function deliver(
  outside: InstanceOutside,
  ports: InstancePorts,
  runner: StepRunner,
  db: Db,
  leased: LeasedFeedback,
): Promise<ReviewFeedbackRow | undefined> {
  const coding = await requireInstance(db, leased.workspace_id, leased.coding_instance);
  const review = await requireInstance(db, leased.workspace_id, leased.review_instance);
  const merged = await merge(outside, runner, leased, review, coding);
  return merged && (await runner.write((tx) => settle(tx, ports, runner.actor, merged)));
}

/** Records the delivery, ends the review, notifies the coding agent and counts a failed review. All of this happens in one transaction. */
async function settle(tx: Tx, ports: InstancePorts, actor: string, { at, commit, reason }: Merged): Promise<ReviewFeedbackRow | undefined> {
  const row = await stillMine(tx, at);
  if (!row) return undefined;
  const delivered = reason === null ? ('merged' as const) : ('message' as const);
  const values = { ...LEASE_OVER, git_commit_hash: commit, delivered, reason };
  await changeRows(tx.db, 'review_feedback', { workspace_id: tx.workspace, id: row.id }, values);
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
): Promise<Pick<FailedReviewCount, 'abandoned'>> {
  const relationship = await reviewedBy(tx.db, tx.workspace, review.id);
  if (relationship?.ended_at != null) {
    // A person ended the review in the meantime. The feedback was delivered anyway, so the coding agent must be notified.
    const { news, ...message } = feedbackNotice(row, { ...how, abandoned: false });
    if (coding.ended_at === null) await ports.sendMessage(tx, { from: review.agent_id, to: coding.agent_id, actor, ...message });
    if (coding.status === 'started') await changeInstance(tx.db, coding, { news: withNews(coding, news) });
    return { abandoned: false };
  }
  const limits = await reviewLimits(tx.db, tx.workspace);
  const willEnd = row.feedback_type === 'needs_work' && isGivenUp(coding.failed_reviews + 1, limits);
  const { news, ...message } = feedbackNotice(row, { ...how, abandoned: willEnd });
  const outcome = { outcome: row.feedback_type, reason: `it sent its feedback (${row.feedback_type})`, message, news };
  await concludeReview(tx, ports, review, { actor, ...outcome, delivered: true, graceMs: EXIT_GRACE_MS });
  const after = await requireInstance(tx.db, tx.workspace, coding.id);
  if (row.feedback_type !== 'needs_work' || after.status !== 'started') return { abandoned: false };
  return await countFailedReview(tx, actor, after, limits, 0);
}

/** Maximum number of attempts to merge. An attempt fails if the coding agent commits at the same moment. */
const TRIES = 5;

export interface Merged {
  readonly at: LeasedFeedback;
  readonly commit: string | null;
  /** Why the feedback could not be merged; null if it was merged. */
  readonly reason: string | null;
}

/**
 * Merges the feedback into the coding branch. If that is impossible, returns the reason. Returns undefined if another server has taken over. After a
 * crash, another server can call this again.
 */
export async function merge(
  { disk }: InstanceOutside,
  runner: StepRunner,
  leased: LeasedFeedback,
  review: InstanceRow,
  coding: InstanceRow,
): Promise<Merged | undefined> {
  const job = jobOf(leased, review, coding);
  let at = leased;
  try {
    let prepared = await madeBefore(disk, at, job);
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      if (prepared === undefined) {
        const made = await disk.prepareMerge(job);
        // The commit is stored before it is on the branch. A server that takes over can then check whether the branch already contains it.
        const next = await runner.write((tx) => goOn(tx, at, 'merging', { git_commit_hash: made.commit }));
        if (!next) return undefined;
        at = next;
        prepared = made;
      }
      if (await disk.applyMerge(job, prepared)) return { at, commit: prepared.commit, reason: null };
      prepared = undefined;
    }
    return { at, commit: null, reason: 'its branch moved during each attempt' };
  } catch (error) {
    return { at, commit: null, reason: messageOf(error) };
  }
}

async function madeBefore(disk: InstanceOutside['disk'], { git_commit_hash }: LeasedFeedback, { worktree }: FileMerge): Promise<PreparedMerge | undefined> {
  const onto = git_commit_hash === null ? null : await disk.resolveCommit(worktree, `${git_commit_hash}^1`);
  return git_commit_hash === null || onto === null ? undefined : { commit: git_commit_hash, onto };
}

function jobOf(row: LeasedFeedback, review: InstanceRow, coding: InstanceRow): FileMerge {
  const about = review.base_commit as string;
  return {
    worktree: coding.worktree_path,
    branch: coding.branch_name,
    file: FEEDBACK_FILE,
    text: feedbackFile(row, about),
    about,
    author: { name: review.id, email: `${review.id}@localhost` },
    subject: `Review ${row.review_iteration} of ${coding.id}: ${row.feedback_type}`,
    key: row.id,
  };
}
