import type { ReviewFeedbackRow } from '../../../storage/schema-rows.ts';

/** The maximum JSON size in a message's body, with room for the other fields. */
const MAX_TEXT = 32_000;
const MAX_ITEMS_SIZE = 24_000;

export interface DeliveryOutcome {
  readonly commit: string | null;
  /** Why it could not be merged. */
  readonly reason: string | null;
  /** The coding instance ends now after too many failed reviews. */
  readonly abandoned: boolean;
}

interface FeedbackNotice {
  readonly subject: string;
  readonly body: string | Record<string, unknown>;
  readonly priority: ReviewFeedbackRow['priority'];
  /** Typed into its terminal, or used as its prompt at a restart. Contains no text of the reviewer. */
  readonly news: string;
}

const WHAT_NEXT = 'Act on it, commit, then call request_review again or create_pull_request.';

/** The message to the coding agent. It repeats the feedback only if that could not be merged. */
export function feedbackNotice(row: ReviewFeedbackRow, { commit, reason, abandoned }: DeliveryOutcome): FeedbackNotice {
  const subject = `Review ${row.review_iteration} by ${row.review_instance}: ${row.feedback_type}`;
  const next = abandoned ? `${row.coding_instance} is now abandoned after too many failed reviews.` : WHAT_NEXT;
  if (reason === null) {
    const body = `Feedback ${row.id} is in ${FEEDBACK_FILE} on your branch, merged by ${commit}. ${next}`;
    return { subject, body, priority: row.priority, news: `${subject}. ${body}` };
  }
  const news = `${subject}. Feedback ${row.id} could not be merged into your branch; it is in your messages: call message_list. ${next}`;
  return { subject, body: { ...messageBody(row), not_merged: reason, next }, priority: row.priority, news };
}

function messageBody(row: ReviewFeedbackRow): Record<string, unknown> {
  const all = JSON.parse(row.actionable_items) as string[];
  let room = MAX_ITEMS_SIZE;
  const items = all.filter((item) => (room -= sizeOf(item)) >= 0);
  const feedback = beginning(row.feedback, MAX_TEXT);
  const isCut = items.length < all.length || feedback.length < row.feedback.length;
  return {
    feedback_id: row.id,
    feedback_type: row.feedback_type,
    review_iteration: row.review_iteration,
    actionable_items: items,
    feedback,
    ...(isCut ? { cut: `The feedback is longer than a message. A person can read all of it with \`covenant instances show ${row.coding_instance}\`.` } : {}),
  };
}

const sizeOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) + 1;

/** The longest beginning that fits. */
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
 * The feedback file in the coding worktree. A machine-readable front matter is followed by the reviewer's own text. No text can change the
 * front matter, because the reviewer's values in it are single-line JSON strings. Such strings are valid YAML too.
 * The same row always gives the same file, even to a server that finishes the merge after a crash.
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
    // Normalized as git would do in a commit.
    row.feedback.replace(/\r\n?/g, '\n'),
    '',
  ].join('\n');
}

/** Escapes characters that JSON allows but some readers treat as the end of a line. */
const oneLine = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
