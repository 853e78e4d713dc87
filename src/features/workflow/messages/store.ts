import { type ExpressionBuilder, sql } from 'kysely';
import { z } from 'zod';
import { Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { chunks, newId, readJson } from '../../../storage/rows.ts';
import type { Database, MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { Forgotten } from '../../core/settings/index.ts';
import { HUMAN, type MessageStatus, type MessageType, type MessageView, type Priority } from './contract.ts';

/** What one statement may carry on either engine. */
const ROWS_AT_ONCE = 500;

export async function insertMessages(db: Db, rows: readonly MessageRow[]): Promise<void> {
  for (const some of chunks(rows, ROWS_AT_ONCE)) {
    await db.insertInto('messages').values(some).execute();
  }
}

export const messagesIn = (db: Db, workspace: string) => db.selectFrom('messages').selectAll().where('workspace_id', '=', workspace);

/** Not expired. */
const standing = (now: number) => (eb: ExpressionBuilder<Database, 'messages'>) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]);

export async function findMessage(db: Db, workspace: string, id: string): Promise<MessageRow | undefined> {
  return await messagesIn(db, workspace).where('id', '=', id).executeTakeFirst();
}

export async function findMessages(db: Db, workspace: string, ids: readonly string[]): Promise<MessageRow[]> {
  return await messagesIn(db, workspace).where('id', 'in', ids).execute();
}

export async function changeMessages(db: Db, workspace: string, ids: readonly string[], values: Partial<MessageRow>): Promise<void> {
  if (ids.length === 0) return;
  await db.updateTable('messages').set(values).where('workspace_id', '=', workspace).where('id', 'in', ids).execute();
}

export async function unreadByPriority(db: Db, workspace: string, agentId: string, now: number): Promise<[Priority, number][]> {
  const rows = await db
    .selectFrom('messages')
    .select((eb) => ['priority', eb.fn.countAll<number>().as('unread')])
    .where('workspace_id', '=', workspace)
    .where('recipient_id', '=', agentId)
    .where('status', '=', 'unread')
    .where(standing(now))
    .groupBy('priority')
    .execute();
  return rows.map(({ priority, unread }) => [priority, Number(unread)]);
}

interface MessageFilter {
  readonly types?: readonly MessageType[] | undefined;
  readonly priorities?: readonly Priority[] | undefined;
  readonly workflowId?: string | undefined;
  readonly since?: number | undefined;
  readonly limit: number;
}

function wanted(query: ReturnType<typeof messagesIn>, { types, priorities, workflowId, since, limit }: MessageFilter) {
  let narrowed = query;
  if (types) narrowed = narrowed.where('message_type', 'in', types);
  if (priorities) narrowed = narrowed.where('priority', 'in', priorities);
  if (workflowId !== undefined) narrowed = narrowed.where('workflow_id', '=', workflowId);
  if (since !== undefined) narrowed = narrowed.where('sent_at', '>=', since);
  return narrowed.orderBy('sent_at', 'desc').orderBy('id', 'desc').limit(limit);
}

const newestFirst = (a: MessageRow, b: MessageRow): number => b.sent_at - a.sent_at || (a.id < b.id ? 1 : -1);

/** What the agent received and has not expired, newest first. Each status is read along the index, however many there are of others. */
export async function inboxOf(
  db: Db,
  workspace: string,
  agentId: string,
  statuses: readonly MessageStatus[],
  now: number,
  want: MessageFilter,
): Promise<MessageRow[]> {
  const found: MessageRow[] = [];
  for (const status of statuses) {
    const query = messagesIn(db, workspace).where('recipient_id', '=', agentId).where('status', '=', status).where(standing(now));
    found.push(...(await wanted(query, want).execute()));
  }
  return found.sort(newestFirst).slice(0, want.limit);
}

/** What nobody has given to these agents yet, the oldest first. */
export async function undeliveredTo(db: Db, workspace: string, agentIds: readonly string[], now: number, limit: number): Promise<MessageRow[]> {
  if (agentIds.length === 0) return [];
  return await messagesIn(db, workspace)
    .where('recipient_id', 'in', agentIds)
    .where('status', '=', 'unread')
    .where('delivered_at', 'is', null)
    .where(standing(now))
    .orderBy('sent_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** What the agent sent or received of a thread, newest first. Of what expired only what it sent: it should see that nobody read it. */
export async function threadOf(
  db: Db,
  workspace: string,
  threadId: string,
  agentId: string,
  statuses: readonly MessageStatus[],
  now: number,
  want: MessageFilter,
): Promise<MessageRow[]> {
  const query = messagesIn(db, workspace)
    .where('thread_id', '=', threadId)
    .where('status', 'in', statuses)
    .where((eb) => eb.or([eb('sender_id', '=', agentId), eb.and([eb('recipient_id', '=', agentId), standing(now)(eb)])]));
  return await wanted(query, want).execute();
}

/** With the names of who asks and of what the question is about. A task that was removed meanwhile keeps its name. */
const questionsIn = (db: Db, workspace: string) =>
  db
    .selectFrom('messages')
    .leftJoin('agents', (join) => join.onRef('agents.workspace_id', '=', 'messages.workspace_id').onRef('agents.id', '=', 'messages.sender_id'))
    .leftJoin('workflows', (join) => join.onRef('workflows.workspace_id', '=', 'messages.workspace_id').onRef('workflows.id', '=', 'messages.workflow_id'))
    .leftJoin('workflow_tasks', (join) =>
      join.onRef('workflow_tasks.workspace_id', '=', 'messages.workspace_id').onRef('workflow_tasks.id', '=', 'messages.task_id'),
    )
    .selectAll('messages')
    .select(['agents.name as agent_name', 'agents.developer_id as developer_id', 'workflows.name as workflow_name', 'workflow_tasks.name as task_name'])
    .where('messages.workspace_id', '=', workspace)
    .where('messages.recipient_id', '=', HUMAN);
export type QuestionRow = Awaited<ReturnType<typeof openQuestionRows>>[number];

const openQuestionsIn = (db: Db, workspace: string, now: number) =>
  questionsIn(db, workspace)
    .where('messages.status', '=', 'unread')
    .where((eb) => eb.or([eb('messages.expires_at', 'is', null), eb('messages.expires_at', '>', now)]));

export async function openQuestionRow(db: Db, workspace: string, now: number, id: string): Promise<QuestionRow | undefined> {
  return await openQuestionsIn(db, workspace, now).where('messages.id', '=', id).executeTakeFirst();
}

/** Those that wait for an answer, the oldest first. */
export async function openQuestionRows(db: Db, workspace: string, now: number, limit: number) {
  return await openQuestionsIn(db, workspace, now).orderBy('messages.sent_at').orderBy('messages.id').limit(limit).execute();
}

/** The last to be answered first. */
export async function answeredQuestionRows(db: Db, workspace: string, limit: number): Promise<QuestionRow[]> {
  return await questionsIn(db, workspace)
    .where('messages.status', '=', 'read')
    .orderBy('messages.answered_at', 'desc')
    .orderBy('messages.id', 'desc')
    .limit(limit)
    .execute();
}

/** What people answered to these questions. */
export async function answersTo(db: Db, workspace: string, questions: readonly Pick<MessageRow, 'id' | 'thread_id'>[]): Promise<MessageRow[]> {
  if (questions.length === 0) return [];
  return await messagesIn(db, workspace)
    .where(
      'thread_id',
      'in',
      questions.map(({ thread_id }) => thread_id),
    )
    .where('sender_id', '=', HUMAN)
    .where(
      'reply_to_id',
      'in',
      questions.map(({ id }) => id),
    )
    .execute();
}

/** Questions of all workspaces that ran out of time. */
export async function lapsedQuestions(db: Db, now: number, limit: number): Promise<Pick<MessageRow, 'workspace_id' | 'id'>[]> {
  return await db
    .selectFrom('messages')
    .select(['workspace_id', 'id'])
    .where('recipient_id', '=', HUMAN)
    .where('status', '=', 'unread')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}

export type MessageBody = string | Record<string, unknown>;
const bodySchema = z.union([z.string(), z.record(z.string(), z.unknown())]);

const MINUTE = 60_000;

export interface MessageWords {
  readonly message_type: MessageRow['message_type'];
  readonly subject?: string | undefined;
  readonly body: MessageBody;
  readonly priority?: MessageRow['priority'] | undefined;
  readonly expires_in_minutes?: number | undefined;
}

interface Envelope {
  readonly threadId: string;
  readonly replyToId?: string | null;
  readonly senderId: string;
  readonly recipientId: string;
  readonly workflowId: string | null;
  readonly taskId?: string | null;
  readonly actor: string;
}

/** A message that was sent just now and that nobody has seen. */
export const newMessage = (
  tx: Tx,
  words: MessageWords,
  { threadId, replyToId = null, senderId, recipientId, workflowId, taskId = null, actor }: Envelope,
): MessageRow => ({
  workspace_id: tx.workspace,
  id: newId('msg', tx.now),
  thread_id: threadId,
  reply_to_id: replyToId,
  sender_id: senderId,
  recipient_id: recipientId,
  message_type: words.message_type,
  subject: words.subject ?? null,
  body: JSON.stringify(words.body),
  priority: words.priority ?? 'normal',
  status: 'unread',
  workflow_id: workflowId,
  task_id: taskId,
  actor,
  sent_at: tx.now,
  delivered_at: null,
  read_at: null,
  archived_at: null,
  answered_at: null,
  expires_at: words.expires_in_minutes === undefined ? null : tx.now + words.expires_in_minutes * MINUTE,
});

const readBody = ({ body }: Pick<MessageRow, 'body'>): MessageBody => readJson(bodySchema, body);

/** For people, and for checkpoints. */
export function bodyText(row: Pick<MessageRow, 'body'>): string {
  const body = readBody(row);
  return typeof body === 'string' ? body : JSON.stringify(body, null, 2);
}

export const isExpired = ({ expires_at }: Pick<MessageRow, 'expires_at'>, now: number): boolean => expires_at !== null && expires_at <= now;

const receiptOf = ({ delivered_at, read_at }: MessageRow): MessageView['receipt'] => (read_at !== null ? 'read' : delivered_at !== null ? 'delivered' : 'sent');

export const viewMessage = (row: MessageRow): MessageView => ({
  id: row.id,
  thread_id: row.thread_id,
  reply_to_id: row.reply_to_id,
  sender_id: row.sender_id,
  recipient_id: row.recipient_id,
  message_type: row.message_type,
  subject: row.subject,
  body: readBody(row),
  priority: row.priority,
  status: row.status,
  workflow_id: row.workflow_id,
  task_id: row.task_id,
  sent_at: row.sent_at,
  delivered_at: row.delivered_at,
  read_at: row.read_at,
  expires_at: row.expires_at,
  receipt: receiptOf(row),
});

/** In the same words whether there is none or it is other people's mail. */
export const messageNotFound = (id: string, field: string): Refusal =>
  new Refusal('MESSAGE_NOT_FOUND', `${field}: your agents have no message ${JSON.stringify(id)}.`, 'message_list names those there are.', { field, id });

export const messageExpired = (id: string, expiresAt: number): Refusal =>
  new Refusal('MESSAGE_EXPIRED', `Message ${JSON.stringify(id)} has expired.`, 'Ask its sender whether it still matters.', {
    field: 'id',
    id,
    expires_at: expiresAt,
  });

/**
 * Whole threads, or a reply would stand without what it answers: those in which nothing was said since, nothing is unread that has
 * not run out, and no query is unanswered.
 */
export const finishedThreads: Forgotten = {
  async over(db, workspace, before, limit) {
    const rows = await db
      .selectFrom('messages')
      .select('thread_id')
      .distinct()
      .where('workspace_id', '=', workspace)
      .where('sent_at', '<', before)
      .where(
        sql<boolean>`not exists (
          select 1 from messages as m where m.workspace_id = messages.workspace_id and m.thread_id = messages.thread_id and (m.sent_at >= ${before}
            or ((m.expires_at is null or m.expires_at >= ${before}) and (m.status = 'unread' or (m.message_type = 'query' and m.answered_at is null
              and not exists (select 1 from messages as r where r.workspace_id = m.workspace_id and r.thread_id = m.thread_id
                and r.reply_to_id is not null and r.recipient_id = m.sender_id))))))`,
      )
      .limit(limit)
      .execute();
    return rows.map(({ thread_id }) => thread_id);
  },
  remove: (db, workspace, ids) => db.deleteFrom('messages').where('workspace_id', '=', workspace).where('thread_id', 'in', ids).execute(),
};
