import type { ExpressionBuilder } from 'kysely';
import { chunks } from '../../../storage/chunks.ts';
import type { Db } from '../../../storage/engine.ts';
import type { Database, MessageRow } from '../../../storage/schema-rows.ts';
import type { MessageStatus, MessageType, Priority } from './contract.ts';

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

export interface MessageFilter {
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
