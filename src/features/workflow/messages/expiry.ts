import type { House } from '../../../kernel/context.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import type { Tx } from '../../../storage/write.ts';
import { SERVER } from './addresses.ts';
import { closeQuestion } from './close.ts';
import { lapsedQuestions } from './question-store.ts';
import { findMessage } from './store.ts';
import { isExpired } from './views.ts';

const SAID = 'Your question expired unanswered.';

/**
 * A task must not wait for ever for an answer that is no longer wanted. Other messages need no sweep: that they have expired is
 * seen when they are looked for.
 */
export const questionSweep = (house: Pick<House, 'store' | 'clock' | 'log'>): Sweep =>
  dueSweep(house, { name: 'questions', everyMs: 5_000, atOnce: 100, find: lapsedQuestions, settle: (tx, { id }) => noteExpiry(tx, id) });

/** Only where nobody has answered it, or noted this, in the meantime. */
async function noteExpiry(tx: Tx, id: string): Promise<void> {
  const row = await findMessage(tx.db, tx.workspace, id);
  if (row?.status !== 'unread' || !isExpired(row, tx.now)) return;
  const { taskStatus } = await closeQuestion(tx, row, {
    sender: SERVER,
    actor: SERVER,
    words: { message_type: 'notification', subject: SAID, body: SAID, priority: row.priority },
    question: { status: 'archived', archived_at: tx.now },
    outcome: 'No answer came: the question expired. Decide without one, or ask again.',
    detail: { expired_at: row.expires_at },
  });
  const payload = { agent_id: row.sender_id, workflow_id: row.workflow_id, task_id: row.task_id, task_status: taskStatus, expired_at: row.expires_at };
  tx.append({ category: 'work', kind: 'question.expired', actor: SERVER, subject: id, payload });
}
