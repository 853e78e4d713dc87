import { beginning } from '../../../kernel/excerpt.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { resumeAfterAnswer } from '../steps/index.ts';
import { addCheckpoint, changeTask, findTask, findWorkflow, isEnded, type StoredTaskStatus } from '../workflows/index.ts';
import { newMessage, type Words } from './compose.ts';
import { changeMessages, insertMessages } from './store.ts';
import { bodyText } from './views.ts';

/** What a checkpoint keeps of each, so that the pack an agent recovers from can carry it. The whole stands in the messages. */
const QUESTION_KEPT = 1_000;
const ANSWER_KEPT = 4_000;

interface Closing {
  readonly sender: string;
  readonly actor: string;
  readonly words: Words;
  /** What the question is from now on. */
  readonly question: Partial<MessageRow>;
  /** What came of it, for whoever goes on with the task. */
  readonly outcome: string;
  readonly detail: Record<string, unknown>;
}

export interface Closed {
  readonly replyId: string;
  /** Null: no task waited for it any more. */
  readonly taskStatus: StoredTaskStatus | null;
}

/** The end of a question: who asked is told, and the task that waits for it goes on, with what came of it on record. */
export async function closeQuestion(tx: Tx, row: MessageRow, { sender, actor, words, question, outcome, detail }: Closing): Promise<Closed> {
  await changeMessages(tx.db, tx.workspace, [row.id], question);
  const reply = newMessage(tx, words, {
    threadId: row.thread_id,
    replyToId: row.id,
    senderId: sender,
    recipientId: row.sender_id,
    workflowId: row.workflow_id,
    taskId: row.task_id,
    actor,
  });
  await insertMessages(tx.db, [reply]);
  const task = row.task_id === null ? undefined : await findTask(tx.db, tx.workspace, row.task_id);
  // Whoever replanned or ended the work meanwhile has decided without the answer.
  if (task?.question_id !== row.id) return { replyId: reply.id, taskStatus: null };
  const workflow = await findWorkflow(tx.db, tx.workspace, task.workflow_id);
  if (!workflow || isEnded(workflow.status)) {
    await changeTask(tx.db, tx.workspace, task.id, { question_id: null, resume_status: null });
    return { replyId: reply.id, taskStatus: null };
  }
  const checkpoint = await addCheckpoint(tx, task, {
    type: 'decision',
    summary: `Question: ${beginning(bodyText(row), QUESTION_KEPT)}\n${beginning(outcome, ANSWER_KEPT)}`,
    detail: { question_id: row.id, ...detail },
    agentId: row.sender_id,
    actor,
  });
  const taskStatus = await resumeAfterAnswer(tx, { ...task, last_checkpoint: checkpoint.sequence }, actor);
  return { replyId: reply.id, taskStatus };
}
