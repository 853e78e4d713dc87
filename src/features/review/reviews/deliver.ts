import { messageOf, type StepRunner } from '../../../kernel/step.ts';
import type { FileMerge, PreparedMerge } from '../../../machine/git/merge-file.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows } from '../../../storage/rows.ts';
import type { ReviewFeedbackRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type ReviewLimits, reviewLimits } from '../../core/settings/index.ts';
import {
  beginEnding,
  changeInstance,
  EXIT_GRACE_MS,
  type InstanceOutside,
  type InstancePorts,
  type InstanceRow,
  isGivenUp,
  requireInstance,
  reviewedBy,
  reviewOver,
  withNews,
} from '../instances/index.ts';
import { goOn, LEASE_OVER, type LeasedFeedback, stillMine } from './store.ts';

/** From what the reviewer said to what the coding agent has, once. Undefined where another has taken over. */
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

/** Delivered, the review over, the parent free and told, its failed review counted: all or nothing of it. */
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
  await reviewOver(tx, ports, review, { actor, ...outcome, delivered: true, graceMs: EXIT_GRACE_MS });
  const after = await requireInstance(tx.db, tx.workspace, coding.id);
  if (row.feedback_type !== 'needs_work' || after.status !== 'started') return { abandoned: false };
  return await countFailed(tx, actor, after, limits, 0);
}

/** Its agent may commit at the same moment; for ever it does not. */
const TRIES = 5;

export interface Merged {
  readonly at: LeasedFeedback;
  readonly commit: string | null;
  /** Why there is no commit. */
  readonly reason: string | null;
}

/** Brings the feedback into the coding branch, or says why it cannot be. Undefined where another has taken over. Can be begun again after a crash. */
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
        // Written down before it is on the branch: whoever takes over must know whether it is.
        const next = await runner.write((tx) => goOn(tx, at, 'merging', { git_commit_hash: made.commit }));
        if (!next) return undefined;
        at = next;
        prepared = made;
      }
      if (await disk.applyMerge(job, prepared)) return { at, commit: prepared.commit, reason: null };
      prepared = undefined;
    }
    return { at, commit: null, reason: 'its branch moved on each time' };
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

/** As much JSON as a message's body may be, with room for the rest of it. */
const MAX_TEXT = 32_000;
const MAX_ITEMS = 24_000;

export interface DeliveryOutcome {
  readonly commit: string | null;
  /** Why it could not be merged. */
  readonly reason: string | null;
  /** The instance that it is for ends now: it has had too many failed reviews. */
  readonly abandoned: boolean;
}

interface FeedbackNotice {
  readonly subject: string;
  readonly body: string | Record<string, unknown>;
  readonly priority: ReviewFeedbackRow['priority'];
  /** What is typed into its terminal, or what its program is started again with: nothing of it is the reviewer's. */
  readonly news: string;
}

const WHAT_NEXT = 'Act on it, commit, then call request_review again or create_pull_request.';

/** What the coding agent is told. Merged feedback is not repeated; what could not be merged is in the message itself. */
export function inWords(row: ReviewFeedbackRow, { commit, reason, abandoned }: DeliveryOutcome): FeedbackNotice {
  const subject = `Review ${row.review_iteration} by ${row.review_instance}: ${row.feedback_type}`;
  const next = abandoned ? `${row.coding_instance} is abandoned now: it has had too many failed reviews.` : WHAT_NEXT;
  if (reason === null) {
    const body = `Feedback ${row.id} is in ${FEEDBACK_FILE} on your branch, merged by ${commit}. ${next}`;
    return { subject, body, priority: row.priority, news: `${subject}. ${body}` };
  }
  const news = `${subject}. Feedback ${row.id} could not be merged into your branch; it is in your messages: call message_list. ${next}`;
  return { subject, body: { ...messageBody(row), not_merged: reason, next }, priority: row.priority, news };
}

function messageBody(row: ReviewFeedbackRow): Record<string, unknown> {
  const all = JSON.parse(row.actionable_items) as string[];
  let room = MAX_ITEMS;
  const items = all.filter((item) => (room -= sizeOf(item)) >= 0);
  const feedback = beginning(row.feedback, MAX_TEXT);
  const isCut = items.length < all.length || feedback.length < row.feedback.length;
  return {
    feedback_id: row.id,
    feedback_type: row.feedback_type,
    review_iteration: row.review_iteration,
    actionable_items: items,
    feedback,
    ...(isCut ? { cut: `It is longer than a message: the whole is kept, see covenant instances show ${row.coding_instance}.` } : {}),
  };
}

const sizeOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) + 1;

/** As much of it as has room. */
function beginning(text: string, room: number): string {
  let [fits, tooLong] = [0, text.length + 1];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (sizeOf(text.slice(0, middle)) <= room) fits = middle;
    else tooLong = middle;
  }
  return text.slice(0, fits).replace(/[\ud800-\udbff]$/, '');
}

export const FEEDBACK_FILE = 'REVIEW_FEEDBACK.md';

/**
 * How the feedback reads in the coding worktree: a front part that a program can read, then the reviewer's own text. Whatever that
 * text holds, the front part is ours: its free values are JSON strings of one line each, which YAML reads too.
 * The same for the same row, always: whoever finishes a merge after a crash makes the same file.
 */
export function feedbackFile(row: ReviewFeedbackRow, reviewed: string): string {
  const items = JSON.parse(row.actionable_items) as string[];
  const list = items.map((item) => `  - ${oneLine(item)}`);
  return [
    '---',
    `feedback_id: ${row.id}`,
    `type: ${row.feedback_type}`,
    `priority: ${row.priority}`,
    `iteration: ${row.review_iteration}`,
    `reviewer: ${row.review_instance}`,
    `for: ${row.coding_instance}`,
    `reviewed_commit: ${reviewed}`,
    items.length === 0 ? 'actionable_items: []' : 'actionable_items:',
    ...list,
    '---',
    '',
    '# Review feedback',
    '',
    // As git itself would have it in a commit.
    row.feedback.replace(/\r\n?/g, '\n'),
    '',
  ].join('\n');
}

/** Of what JSON leaves as it is, some readers take these for the end of a line. */
const oneLine = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

export interface Counted {
  readonly failed: number;
  readonly abandoned: boolean;
}

/** One more failed review. At the threshold the instance is abandoned in the same breath; the sweep takes it from the machine after `graceMs`. */
export async function countFailed(tx: Tx, actor: string, row: InstanceRow, limits: ReviewLimits, graceMs: number): Promise<Counted> {
  const failed = row.failed_reviews + 1;
  if (!isGivenUp(failed, limits)) {
    await changeInstance(tx.db, row, { failed_reviews: failed, updated_at: tx.now });
    return { failed, abandoned: false };
  }
  const status_reason = `${failed} failed reviews, of at most ${limits.autoAbandonAfter}`;
  await beginEnding(tx, row, { failed_reviews: failed, status: 'abandoned', status_reason, news: null }, { force: false }, graceMs);
  tx.append({ category: 'work', kind: 'instance.abandoned', actor, subject: row.id, payload: { automatic: true, failed_reviews: failed } });
  return { failed, abandoned: true };
}
