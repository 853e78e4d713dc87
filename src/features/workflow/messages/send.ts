import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import { notFound, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { insertRows, newId } from '../../../storage/rows.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { PRIVATE } from '../../core/identity/index.ts';
import { type AgentFilter, type AgentRow, findAgent, listAgents, requireOnline, requireOwnAgent, touchAgent } from '../agents/index.ts';
import { requireTask, requireWorkflow, type WorkflowTaskRow } from '../workflows/index.ts';
import { broadcastMessage, HUMAN, sendMessage } from './contract.ts';
import { type MessageWords, messageNotFound, newMessage } from './message.ts';
import { askPeople } from './questions.ts';
import { findMessage } from './store.ts';

const MAX_RECIPIENTS = 1_000;

export const sendTools: Implementation[] = [
  implement(sendMessage, {
    write: async (tx, input, ctx) => {
      const sender = await requireSender(tx, ctx, input.sender_id);
      const answered = await answeredBy(tx, sender.id, input.reply_to_id);
      const recipientId = recipientOf(input.recipient_id, sender.id, answered);
      const toPeople = recipientId === HUMAN;
      if (!toPeople) await requireRecipient(tx, recipientId);
      const { workflowId, task } = await workOf(tx, input.workflow_id, input.task_id);
      const message = newMessage(tx, input, {
        threadId: answered?.thread_id ?? newId('thr', tx.now),
        replyToId: input.reply_to_id ?? null,
        senderId: sender.id,
        recipientId,
        workflowId,
        taskId: task?.id ?? null,
        actor: ctx.principal.actor,
      });
      if (toPeople) await askPeople(tx, ctx, message, task);
      await insertRows(tx.db, 'messages', message);
      const { id, thread_id, expires_at } = message;
      record(tx, ctx, {
        category: 'work',
        kind: toPeople ? 'question.asked' : 'message.sent',
        subject: id,
        payload: {
          thread_id,
          sender_id: sender.id,
          recipient_id: message.recipient_id,
          message_type: message.message_type,
          priority: message.priority,
          workflow_id: workflowId,
          task_id: message.task_id,
          expires_at,
        },
      });
      return ok({ id, thread_id, expires_at });
    },
  }),
  implement(broadcastMessage, {
    write: async (tx, input, ctx) => {
      const sender = await requireSender(tx, ctx, input.sender_id);
      const { workflowId } = await workOf(tx, input.workflow_id, undefined);
      const { messages, threadId } = await broadcast(tx, ctx, { senderId: sender.id, workflowId, filter: input.recipient_filter ?? {}, words: input });
      const [first] = messages;
      if (!first) return ok({ sent_count: 0, message_ids: [], thread_id: null, expires_at: null }, 'No other agent matches, so nobody got the message.');
      return ok({ sent_count: messages.length, message_ids: messages.map(({ id }) => id), thread_id: threadId, expires_at: first.expires_at });
    },
  }),
];

interface RecipientFilter extends Pick<AgentFilter, 'role' | 'runtime'> {
  readonly status?: 'online' | 'busy' | undefined;
}

/** Returns the recipients of a broadcast: all agents that are online or busy, except the sender. */
export async function recipientsOf(db: Db, viewer: Principal, { status, ...filter }: RecipientFilter, now: number, senderId: string): Promise<AgentRow[]> {
  // Reads two agents more than the limit: one more shows that there are too many recipients, and the other may be the sender.
  const page = { limit: MAX_RECIPIENTS + 2, offset: 0 };
  const { rows } = await listAgents(db, viewer, { ...filter, status: status ? [status] : ['online', 'busy'] }, now, page);
  const recipients = rows.filter(({ id }) => id !== senderId);
  if (recipients.length > MAX_RECIPIENTS) throw tooMany();
  return recipients;
}

interface Broadcast {
  readonly senderId: string;
  readonly workflowId: string | null;
  readonly filter: RecipientFilter;
  readonly words: MessageWords;
}

/** Sends one message to each recipient, all in one thread. Sends none if there is no recipient. */
export async function broadcast(
  tx: Tx,
  ctx: WriteContext,
  { senderId, workflowId, filter, words }: Broadcast,
): Promise<{ messages: MessageRow[]; threadId: string }> {
  const recipients = await recipientsOf(tx.db, ctx.principal, filter, tx.now, senderId);
  const threadId = newId('thr', tx.now);
  const messages = recipients.map(({ id }) => newMessage(tx, words, { threadId, senderId, recipientId: id, workflowId, actor: ctx.principal.actor }));
  const [first] = messages;
  if (!first) return { messages, threadId };
  await insertRows(tx.db, 'messages', messages);
  const { message_type, priority, expires_at } = first;
  const payload = { sender_id: senderId, sent_count: messages.length, message_type, priority, workflow_id: workflowId, expires_at };
  record(tx, ctx, { category: 'work', kind: 'message.broadcast', subject: threadId, payload });
  return { messages, threadId };
}

const tooMany = (): Refusal =>
  new Refusal(
    'TOO_MANY_RECIPIENTS',
    `More than ${MAX_RECIPIENTS} agents would get this message.`,
    'Call again with a narrower recipient_filter: role, status or runtime.',
    {
      field: 'recipient_filter',
      limit: MAX_RECIPIENTS,
    },
  );

interface DirectMessage extends MessageWords {
  readonly from: string;
  readonly to: string;
  readonly actor: string;
  /** The message to which the new message replies, in the same thread. */
  readonly about?: Pick<MessageRow, 'id' | 'thread_id'>;
}

/** Sends a message on behalf of an agent or a person. Returns the id of the message. */
export async function sendDirectMessage(tx: Tx, { from, to, actor, about, ...words }: DirectMessage): Promise<string> {
  const place = { threadId: about?.thread_id ?? newId('thr', tx.now), replyToId: about?.id ?? null };
  const message = newMessage(tx, words, { ...place, senderId: from, recipientId: to, workflowId: null, actor });
  await insertRows(tx.db, 'messages', message);
  const { id, thread_id, message_type, priority } = message;
  const payload = { thread_id, sender_id: from, recipient_id: to, message_type, priority, workflow_id: null, task_id: null, expires_at: message.expires_at };
  tx.append({ category: 'work', kind: 'message.sent', actor, subject: id, payload });
  return id;
}

/** Returns the sending agent. It must belong to the caller and be online. Sending counts as a heartbeat. */
async function requireSender(tx: Tx, ctx: WriteContext, id: string): Promise<AgentRow> {
  if (!(await findAgent(tx.db, tx.workspace, id))) {
    throw notFound(
      'SENDER_NOT_FOUND',
      `Agent ${JSON.stringify(id)} does not exist in this workspace.`,
      'Call agent_register, then send with the id that it returns as sender_id.',
      'sender_id',
    );
  }
  const sender = await requireOwnAgent(tx.db, ctx.principal, id, 'sender_id');
  requireOnline(sender, tx.now, 'sender_id');
  await touchAgent(tx, sender);
  return sender;
}

async function requireRecipient(tx: Tx, id: string): Promise<AgentRow> {
  const recipient = await findAgent(tx.db, tx.workspace, id);
  if (recipient) return recipient;
  throw notFound(
    'RECIPIENT_NOT_FOUND',
    `Agent ${JSON.stringify(id)} does not exist in this workspace.`,
    'Call agent_list to see the ids of agents.',
    'recipient_id',
  );
}

/** Returns the workflow and the task that a message is about. If the caller gave only a task, returns the workflow of that task. */
async function workOf(
  tx: Tx,
  workflowId: string | undefined,
  taskId: string | undefined,
): Promise<{ workflowId: string | null; task: WorkflowTaskRow | null }> {
  const workflow = workflowId === undefined ? null : await requireWorkflow(tx.db, tx.workspace, workflowId, 'workflow_id');
  const task = taskId === undefined ? null : await requireTask(tx.db, tx.workspace, taskId, 'task_id');
  if (workflow && task && task.workflow_id !== workflow.id) {
    throw new Refusal(
      'WORKFLOW_MISMATCH',
      `Task ${task.id} belongs to workflow ${task.workflow_id}, not to ${workflow.id}.`,
      'Call again without workflow_id: the task implies its workflow.',
      { field: 'workflow_id', workflow_id: workflow.id, task_id: task.id },
    );
  }
  return { workflowId: workflow?.id ?? task?.workflow_id ?? null, task };
}

/** Returns the message to which a new message replies. Only its sender and its recipient can reply to it. */
async function answeredBy(tx: Tx, senderId: string, replyToId: string | undefined): Promise<MessageRow | undefined> {
  if (replyToId === undefined) return undefined;
  const answered = await findMessage(tx.db, tx.workspace, replyToId);
  if (!answered || (answered.sender_id !== senderId && answered.recipient_id !== senderId)) throw messageNotFound(replyToId, 'reply_to_id');
  return answered;
}

/**
 * Returns the id of the recipient. Other callers do not see the id of a private developer's agent, so they send `@private` and reply to a message from
 * that agent.
 */
const recipientOf = (recipientId: string, senderId: string, answered: MessageRow | undefined): string =>
  recipientId === PRIVATE && answered && answered.sender_id !== senderId ? answered.sender_id : recipientId;
