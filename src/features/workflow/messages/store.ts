import { type ExpressionBuilder, sql } from 'kysely';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, findRows } from '../../../storage/rows.ts';
import type { Database, MessageRow } from '../../../storage/schema-rows.ts';
import type { RetentionRule } from '../../core/settings/index.ts';
import { HUMAN, type MessageStatus, type MessageType, type Priority } from './contract.ts';

export const messagesIn = (db: Db, workspace: string) => db.selectFrom('messages').selectAll().where('workspace_id', '=', workspace);

const notExpired = (now: number) => (eb: ExpressionBuilder<Database, 'messages'>) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]);

export const findMessage = (db: Db, workspace: string, id: string): Promise<MessageRow | undefined> => findRow(db, 'messages', { workspace_id: workspace, id });

export const findMessages = (db: Db, workspace: string, ids: readonly string[]): Promise<MessageRow[]> =>
  findRows(db, 'messages', { workspace_id: workspace, id: ids });

export const changeMessages = (db: Db, workspace: string, ids: readonly string[], values: Partial<MessageRow>): Promise<number> =>
  changeRows(db, 'messages', { workspace_id: workspace, id: ids }, values);

export async function unreadByPriority(db: Db, workspace: string, agentId: string, now: number): Promise<[Priority, number][]> {
  const rows = await db
    .selectFrom('messages')
    .select((eb) => ['priority', eb.fn.countAll<number>().as('unread')])
    .where('workspace_id', '=', workspace)
    .where('recipient_id', '=', agentId)
    .where('status', '=', 'unread')
    .where(notExpired(now))
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

function narrowed(query: ReturnType<typeof messagesIn>, { types, priorities, workflowId, since, limit }: MessageFilter) {
  let rows = query;
  if (types) rows = rows.where('message_type', 'in', types);
  if (priorities) rows = rows.where('priority', 'in', priorities);
  if (workflowId !== undefined) rows = rows.where('workflow_id', '=', workflowId);
  if (since !== undefined) rows = rows.where('sent_at', '>=', since);
  return rows.orderBy('sent_at', 'desc').orderBy('id', 'desc').limit(limit);
}

const newestFirst = (a: MessageRow, b: MessageRow): number => b.sent_at - a.sent_at || (a.id < b.id ? 1 : -1);

/**
 * Returns the messages in an agent's inbox that have not expired, newest first. Runs one indexed query per status, so that messages with other
 * statuses are not read.
 */
export async function inboxOf(
  db: Db,
  workspace: string,
  agentId: string,
  statuses: readonly MessageStatus[],
  now: number,
  filter: MessageFilter,
): Promise<MessageRow[]> {
  const found: MessageRow[] = [];
  for (const status of statuses) {
    const query = messagesIn(db, workspace).where('recipient_id', '=', agentId).where('status', '=', status).where(notExpired(now));
    found.push(...(await narrowed(query, filter).execute()));
  }
  return found.sort(newestFirst).slice(0, filter.limit);
}

/** Returns messages that were not delivered to these agents yet, oldest first. */
export async function undeliveredTo(db: Db, workspace: string, agentIds: readonly string[], now: number, limit: number): Promise<MessageRow[]> {
  if (agentIds.length === 0) return [];
  return await messagesIn(db, workspace)
    .where('recipient_id', 'in', agentIds)
    .where('status', '=', 'unread')
    .where('delivered_at', 'is', null)
    .where(notExpired(now))
    .orderBy('sent_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/**
 * Returns the messages of a thread that the agent sent or received, newest first. Expired messages are returned only to their sender, so that it
 * learns that nobody read them.
 */
export async function threadOf(
  db: Db,
  workspace: string,
  threadId: string,
  agentId: string,
  statuses: readonly MessageStatus[],
  now: number,
  filter: MessageFilter,
): Promise<MessageRow[]> {
  const query = messagesIn(db, workspace)
    .where('thread_id', '=', threadId)
    .where('status', 'in', statuses)
    .where((eb) => eb.or([eb('sender_id', '=', agentId), eb.and([eb('recipient_id', '=', agentId), notExpired(now)(eb)])]));
  return await narrowed(query, filter).execute();
}

/**
 * A query for questions, with the names of the asking agent, the workflow and the task. If the task was removed in the meantime, its name is still
 * included.
 */
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

/** Unanswered questions, oldest first. */
export async function openQuestionRows(db: Db, workspace: string, now: number, limit: number) {
  return await openQuestionsIn(db, workspace, now).orderBy('messages.sent_at').orderBy('messages.id').limit(limit).execute();
}

/** Answered questions, last answered first. */
export async function answeredQuestionRows(db: Db, workspace: string, limit: number): Promise<QuestionRow[]> {
  return await questionsIn(db, workspace)
    .where('messages.status', '=', 'read')
    .orderBy('messages.answered_at', 'desc')
    .orderBy('messages.id', 'desc')
    .limit(limit)
    .execute();
}

/** The answers of people to these questions. */
export const answersTo = (db: Db, workspace: string, questions: readonly Pick<MessageRow, 'id' | 'thread_id'>[]): Promise<MessageRow[]> =>
  findRows(db, 'messages', {
    workspace_id: workspace,
    thread_id: questions.map(({ thread_id }) => thread_id),
    sender_id: HUMAN,
    reply_to_id: questions.map(({ id }) => id),
  });

/** Expired questions of all workspaces. */
export async function expiredQuestions(db: Db, now: number, limit: number): Promise<Pick<MessageRow, 'workspace_id' | 'id'>[]> {
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

/**
 * Deletes old threads. A thread is kept if it contains a recent message, or an unread message or unanswered query that has not expired. Only whole
 * threads are deleted, because otherwise a reply could remain without the message that it answers.
 */
export const finishedThreads: RetentionRule = {
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
