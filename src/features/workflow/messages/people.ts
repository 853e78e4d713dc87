import { record, type WriteContext } from '../../../kernel/context.ts';
import type { Output } from '../../../kernel/contract.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { ok } from '../../../kernel/reply.ts';
import { onlyMatch } from '../../../kernel/tail.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { HUMAN } from './addresses.ts';
import { closeQuestion } from './close.ts';
import { answerQuestion, listQuestions } from './contract.ts';
import { questionsByTail } from './question-store.ts';
import { readAnswered, readOpen } from './questions.ts';
import { isExpired } from './views.ts';

/** For people alone: no agent's token reaches these. */
export const peopleTools: Implementation[] = [
  implement(listQuestions, {
    read: async ({ answered }, { reader, workspace, principal, clock }) =>
      ok(answered ? await readAnswered(reader, workspace, principal) : await readOpen(reader, workspace, principal, clock.now())),
  }),
  implement(answerQuestion, {
    write: async (tx, { question_id, answer }, ctx) => ok(await answerNamed(tx, ctx, question_id, answer)),
  }),
];

/** By its id, or the end of it. Whoever asked gets the answer as a message. */
export async function answerNamed(tx: Tx, ctx: WriteContext, tail: string, answer: string): Promise<Output<typeof answerQuestion>> {
  const row = await questionNamed(tx, tail);
  requireOpen(row, tx.now);
  const { replyId, taskStatus } = await closeQuestion(tx, row, {
    sender: HUMAN,
    actor: ctx.principal.actor,
    words: { message_type: 'response', subject: row.subject ?? undefined, body: answer, priority: row.priority },
    question: { status: 'read', answered_at: tx.now, read_at: tx.now, delivered_at: row.delivered_at ?? tx.now },
    outcome: `Answer: ${answer}`,
    // Not by name: whoever is private some day must not be found in what was written before. The event has who it was.
    detail: { answered_by: ctx.principal.developerId === null ? 'operator' : HUMAN },
  });
  const payload = { answer_id: replyId, agent_id: row.sender_id, workflow_id: row.workflow_id, task_id: row.task_id, task_status: taskStatus };
  record(tx, ctx, { category: 'work', kind: 'question.answered', subject: row.id, payload });
  return { question_id: row.id, answer_id: replyId, agent_id: row.sender_id, task_id: row.task_id, task_status: taskStatus };
}

async function questionNamed(tx: Tx, tail: string): Promise<MessageRow> {
  const found = await questionsByTail(tx.db, tx.workspace, tail);
  const id = onlyMatch(
    found.map((row) => row.id),
    tail,
    'question',
  );
  return found.find((row) => row.id === id) as MessageRow;
}

function requireOpen(row: MessageRow, now: number): void {
  if (row.status === 'unread' && !isExpired(row, now)) return;
  const end = row.answered_at === null ? 'expired unanswered' : 'was answered';
  throw new Refusal(
    'QUESTION_CLOSED',
    `Question ${row.id} ${end}: there is nothing left to answer.`,
    'covenant workflow questions lists those that are open.',
    {
      field: 'question_id',
      question_id: row.id,
    },
  );
}
