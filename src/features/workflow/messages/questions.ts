import { record, type Services, type WriteContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { findBySuffix } from '../../../kernel/find-by-suffix.ts';
import { invalidInput, invalidState, ok, Refusal } from '../../../kernel/reply.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { insertRows, matching } from '../../../storage/rows.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { pauseForQuestion, resumeAfterAnswer } from '../steps/index.ts';
import {
  addCheckpoint,
  changeTask,
  findTask,
  findWorkflow,
  isEnded,
  isOneOf,
  requireHold,
  requireNotEnded,
  requireWorkflow,
  type StoredTaskStatus,
  SYSTEM_MACHINE,
  TASK_MACHINE,
  type WorkflowTaskRow,
} from '../workflows/index.ts';
import { answerQuestion, HUMAN, listQuestions, SERVER } from './contract.ts';
import { bodyText, isExpired, type MessageWords, newMessage } from './message.ts';
import { readAnswered, readOpen } from './question-views.ts';
import { changeMessages, expiredQuestions, findMessage } from './store.ts';

/** Validates a question to people, and pauses its task. */
export async function askPeople(tx: Tx, ctx: WriteContext, message: MessageRow, task: WorkflowTaskRow | null): Promise<void> {
  if (message.message_type !== 'query') throw invalidInput([{ field: 'message_type', message: `expected query for a message to "${HUMAN}"` }]);
  if (!task) return;
  requireNotEnded(await requireWorkflow(tx.db, tx.workspace, task.workflow_id));
  await requireHold(tx, ctx, task, { agent_id: message.sender_id });
  if (task.question_id !== null) {
    throw new Refusal(
      'QUESTION_OPEN',
      `Task ${JSON.stringify(task.name)} already waits for the answer to question ${task.question_id}.`,
      'Wait for the answer, which you get as a message. To ask something else, call message_send again without task_id.',
      { field: 'task_id', task_id: task.id, question_id: task.question_id },
    );
  }
  const { from } = SYSTEM_MACHINE.ask;
  if (!isOneOf(from, task.status)) {
    const first = task.open_dependencies === 0 ? from.find((status) => isOneOf(TASK_MACHINE[task.status], status)) : undefined;
    const start = first ? ` Or first call task_update_status with id "${task.id}" and status "${first}".` : '';
    throw invalidState(
      `Task ${JSON.stringify(task.name)} is ${task.status}. Only a task that is ${from.join(' or ')} can wait for an answer.`,
      `Call message_send again without task_id.${start}`,
      { field: 'task_id', task_id: task.id, status: task.status },
    );
  }
  await pauseForQuestion(tx, task, message.id, ctx.principal.actor);
}

/** Actions for people. Agent tokens cannot call them. */
export const questionTools: Implementation[] = [
  implement(listQuestions, {
    read: async ({ answered }, { reader, workspace, principal, clock }) =>
      ok(answered ? await readAnswered(reader, workspace, principal) : await readOpen(reader, workspace, principal, clock.now())),
  }),
  implement(answerQuestion, {
    write: async (tx, { question_id, answer }, ctx) => ok(await answerNamed(tx, ctx, question_id, answer)),
  }),
];

/** Answers a question. `tail` is the id of the question or the end of its id. The agent that asked gets the answer as a message. */
export async function answerNamed(tx: Tx, ctx: WriteContext, tail: string, answer: string): Promise<Output<typeof answerQuestion>> {
  const row = await findBySuffix(matching(tx.db, 'messages', { workspace_id: tx.workspace, recipient_id: HUMAN }).selectAll(), tail, 'question');
  requireOpen(row, tx.now);
  const { replyId, taskStatus } = await closeQuestion(tx, row, {
    sender: HUMAN,
    actor: ctx.principal.actor,
    words: { message_type: 'response', subject: row.subject ?? undefined, body: answer, priority: row.priority },
    question: { status: 'read', answered_at: tx.now, read_at: tx.now, delivered_at: row.delivered_at ?? tx.now },
    outcome: `Answer: ${answer}`,
    // The checkpoint leaves out the person's name, because the person may become private later. The event in the journal contains the name.
    detail: { answered_by: ctx.principal.developerId === null ? 'operator' : HUMAN },
  });
  const payload = { answer_id: replyId, agent_id: row.sender_id, workflow_id: row.workflow_id, task_id: row.task_id, task_status: taskStatus };
  record(tx, ctx, { category: 'work', kind: 'question.answered', subject: row.id, payload });
  return { question_id: row.id, answer_id: replyId, agent_id: row.sender_id, task_id: row.task_id, task_status: taskStatus };
}

function requireOpen(row: MessageRow, now: number): void {
  if (row.status === 'unread' && !isExpired(row, now)) return;
  const end = row.answered_at === null ? 'expired without an answer' : 'is already answered';
  throw new Refusal('QUESTION_CLOSED', `Question ${row.id} ${end}.`, 'To see open questions, run: covenant messages list --kind question', {
    field: 'question_id',
    question_id: row.id,
  });
}

/**
 * A checkpoint stores at most this many characters of a question and of its answer, so that the checkpoint fits into a recovery pack. The messages
 * contain the full texts.
 */
const QUESTION_KEPT = 1_000;
const ANSWER_KEPT = 4_000;

interface QuestionEnd {
  readonly sender: string;
  readonly actor: string;
  readonly words: MessageWords;
  /** The changes to the question itself. */
  readonly question: Partial<MessageRow>;
  /** The result that the task's checkpoint stores. */
  readonly outcome: string;
  readonly detail: Record<string, unknown>;
}

interface EndedQuestion {
  readonly replyId: string;
  /** New status of the task. Null if no task waited for the answer. */
  readonly taskStatus: StoredTaskStatus | null;
}

/** Ends a question: sends the reply to the agent that asked, and resumes the waiting task with a checkpoint. */
async function closeQuestion(tx: Tx, row: MessageRow, { sender, actor, words, question, outcome, detail }: QuestionEnd): Promise<EndedQuestion> {
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
  await insertRows(tx.db, 'messages', reply);
  const task = row.task_id === null ? undefined : await findTask(tx.db, tx.workspace, row.task_id);
  // The task no longer waits for this answer, so its status stays.
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

const EXPIRED_NOTICE = 'Your question expired without an answer.';

/** Closes expired questions, so that no task waits forever for an answer. Other messages need no sweep, because each read checks whether they have expired. */
export const questionSweep = (services: Pick<Services, 'store' | 'clock' | 'log'>): Sweep =>
  dueSweep(services, { name: 'questions', everyMs: 5_000, atOnce: 100, find: expiredQuestions, settle: (tx, { id }) => expireQuestion(tx, id) });

/** Does nothing if the question was answered in the meantime, or if another server closed it first. */
async function expireQuestion(tx: Tx, id: string): Promise<void> {
  const row = await findMessage(tx.db, tx.workspace, id);
  if (row?.status !== 'unread' || !isExpired(row, tx.now)) return;
  const { taskStatus } = await closeQuestion(tx, row, {
    sender: SERVER,
    actor: SERVER,
    words: { message_type: 'notification', subject: EXPIRED_NOTICE, body: EXPIRED_NOTICE, priority: row.priority },
    question: { status: 'archived', archived_at: tx.now },
    outcome: 'The question expired without an answer. Decide without one, or ask again.',
    detail: { expired_at: row.expires_at },
  });
  const payload = { agent_id: row.sender_id, workflow_id: row.workflow_id, task_id: row.task_id, task_status: taskStatus, expired_at: row.expires_at };
  tx.append({ category: 'work', kind: 'question.expired', actor: SERVER, subject: id, payload });
}
