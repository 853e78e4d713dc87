import { type Principal, record, type Services, type WriteContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { findBySuffix } from '../../../kernel/find-by-suffix.ts';
import { invalidInput, invalidState, ok, Refusal } from '../../../kernel/reply.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { insertRows, matching } from '../../../storage/rows.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { viewerOf } from '../../core/identity/index.ts';
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
  type WorkflowTaskRow,
} from '../workflows/index.ts';
import { answerQuestion, HUMAN, listQuestions, type QuestionView, SERVER } from './contract.ts';
import { bodyText, isExpired, type MessageWords, newMessage } from './message.ts';
import { answeredQuestionRows, answersTo, changeMessages, findMessage, lapsedQuestions, openQuestionRow, openQuestionRows, type QuestionRow } from './store.ts';

/** A question to a person. The task that it is about waits for the answer. */
export async function ask(tx: Tx, ctx: WriteContext, message: MessageRow, task: WorkflowTaskRow | null): Promise<void> {
  if (message.message_type !== 'query') throw invalidInput([{ field: 'message_type', message: `expected query: "${HUMAN}" is asked, not told` }]);
  if (!task) return;
  requireNotEnded(await requireWorkflow(tx.db, tx.workspace, task.workflow_id));
  await requireHold(tx, ctx, task, { agent_id: message.sender_id });
  if (task.question_id !== null) {
    throw new Refusal(
      'QUESTION_OPEN',
      `Task ${JSON.stringify(task.name)} waits for the answer to question ${task.question_id} already.`,
      'Wait for that answer: it comes as a message. Ask without task_id what the task need not wait for.',
      { field: 'task_id', task_id: task.id, question_id: task.question_id },
    );
  }
  const { from } = SYSTEM_MACHINE.ask;
  if (!isOneOf(from, task.status)) {
    throw invalidState(
      `Task ${JSON.stringify(task.name)} is ${task.status}: only one that is ${from.join(' or ')} can wait for an answer.`,
      'Ask without task_id, or take the task up first.',
      { field: 'task_id', task_id: task.id, status: task.status },
    );
  }
  await pauseForQuestion(tx, task, message.id, ctx.principal.actor);
}

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
  const row = await findBySuffix(matching(tx.db, 'messages', { workspace_id: tx.workspace, recipient_id: HUMAN }).selectAll(), tail, 'question');
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

function requireOpen(row: MessageRow, now: number): void {
  if (row.status === 'unread' && !isExpired(row, now)) return;
  const end = row.answered_at === null ? 'expired unanswered' : 'was answered';
  throw new Refusal(
    'QUESTION_CLOSED',
    `Question ${row.id} ${end}: there is nothing left to answer.`,
    'covenant workflow questions lists those that are open.',
    { field: 'question_id', question_id: row.id },
  );
}

/** A list for people: who has more to answer than this answers the first of them first. */
const MAX_OPEN = 200;
const MAX_ANSWERED = 50;

interface QuestionWithAnswer extends QuestionView {
  readonly answer: string | null;
  readonly answered_at: number | null;
}

/** What a private developer's agent is called may tell whose it is. */
async function questionViewer(db: Db, principal: Principal): Promise<(row: QuestionRow) => QuestionView> {
  const viewer = await viewerOf(db, principal);
  return (row) => ({
    question_id: row.id,
    agent_id: row.sender_id,
    agent_name: viewer.show(row.developer_id, row.agent_name),
    workflow_id: row.workflow_id,
    workflow_name: row.workflow_name,
    task_id: row.task_id,
    task_name: row.task_name,
    subject: row.subject,
    question: bodyText(row),
    priority: row.priority,
    asked_at: row.sent_at,
    expires_at: row.expires_at,
  });
}

/** The oldest first; one more than `limit`, where there are more. */
export async function openQuestions(db: Db, workspace: string, viewer: Principal, now: number, limit: number): Promise<QuestionView[]> {
  const rows = await openQuestionRows(db, workspace, now, limit + 1);
  return rows.length === 0 ? [] : rows.map(await questionViewer(db, viewer));
}

/** Null where it is not open any more. */
export async function openQuestion(db: Db, workspace: string, viewer: Principal, now: number, id: string): Promise<QuestionWithAnswer | null> {
  const row = await openQuestionRow(db, workspace, now, id);
  return row ? { ...(await questionViewer(db, viewer))(row), answer: null, answered_at: null } : null;
}

async function readOpen(db: Db, workspace: string, viewer: Principal, now: number): Promise<{ items: QuestionWithAnswer[]; cut: boolean }> {
  const open = await openQuestions(db, workspace, viewer, now, MAX_OPEN);
  return { items: open.slice(0, MAX_OPEN).map((question) => ({ ...question, answer: null, answered_at: null })), cut: open.length > MAX_OPEN };
}

async function readAnswered(db: Db, workspace: string, viewer: Principal): Promise<{ items: QuestionWithAnswer[]; cut: boolean }> {
  const rows = await answeredQuestionRows(db, workspace, MAX_ANSWERED + 1);
  const listed = rows.slice(0, MAX_ANSWERED);
  const answers = new Map((await answersTo(db, workspace, listed)).map((row) => [row.reply_to_id, bodyText(row)]));
  const view = await questionViewer(db, viewer);
  return {
    items: listed.map((row) => ({ ...view(row), answer: answers.get(row.id) ?? null, answered_at: row.answered_at })),
    cut: rows.length > MAX_ANSWERED,
  };
}

/** What a checkpoint keeps of each, so that the pack an agent recovers from can carry it. The whole stands in the messages. */
const QUESTION_KEPT = 1_000;
const ANSWER_KEPT = 4_000;

interface Closing {
  readonly sender: string;
  readonly actor: string;
  readonly words: MessageWords;
  /** What the question is from now on. */
  readonly question: Partial<MessageRow>;
  /** What came of it, for whoever goes on with the task. */
  readonly outcome: string;
  readonly detail: Record<string, unknown>;
}

interface Closed {
  readonly replyId: string;
  /** Null: no task waited for it any more. */
  readonly taskStatus: StoredTaskStatus | null;
}

/** The end of a question: who asked is told, and the task that waits for it goes on, with what came of it on record. */
async function closeQuestion(tx: Tx, row: MessageRow, { sender, actor, words, question, outcome, detail }: Closing): Promise<Closed> {
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

const SAID = 'Your question expired unanswered.';

/**
 * A task must not wait for ever for an answer that is no longer wanted. Other messages need no sweep: that they have expired is
 * seen when they are looked for.
 */
export const questionSweep = (services: Pick<Services, 'store' | 'clock' | 'log'>): Sweep =>
  dueSweep(services, { name: 'questions', everyMs: 5_000, atOnce: 100, find: lapsedQuestions, settle: (tx, { id }) => noteExpiry(tx, id) });

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
