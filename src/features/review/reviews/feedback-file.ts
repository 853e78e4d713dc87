import type { ReviewFeedbackRow } from '../../../storage/schema-rows.ts';

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
