import type { ReviewFeedbackRow } from '../../../storage/schema-rows.ts';

/** Maximum size of the feedback in a message's body, measured as JSON. The limit leaves room for the other fields. */
const MAX_TEXT = 32_000;
const MAX_ITEMS_SIZE = 24_000;

export interface DeliveryOutcome {
  readonly commit: string | null;
  /** Why the feedback could not be merged; null if it was merged. */
  readonly reason: string | null;
  /** Whether the coding instance ends now, because too many of its reviews have failed. */
  readonly abandoned: boolean;
}

interface FeedbackNotice {
  readonly subject: string;
  readonly body: string | Record<string, unknown>;
  readonly priority: ReviewFeedbackRow['priority'];
  /** The text that is typed into the coding agent's terminal, or used as its prompt at a restart. It contains no text from the reviewer. */
  readonly news: string;
}

const WHAT_NEXT = 'Act on it, commit, then call request_review again or create_pull_request.';

/** Returns the message to the coding agent. It contains the feedback only if the feedback could not be merged. */
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

/** Returns the longest beginning of the text that fits into the room. */
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
 * Returns the content of the feedback file in the coding worktree: a machine-readable front matter, followed by the reviewer's own text. The
 * reviewer's text cannot change the front matter, because its values are single-line JSON strings, which are also valid YAML. The same row always
 * gives the same content, so that a server that finishes the merge after a crash writes the same file.
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
    // Converts line ends to LF, as git does in a commit.
    row.feedback.replace(/\r\n?/g, '\n'),
    '',
  ].join('\n');
}

/** Escapes characters that JSON allows but that some programs treat as the end of a line. */
const oneLine = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
