import { type CallContext, record, type WriteContext } from '../../../kernel/call.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { findAgent, isOwn, requireOwnAgent } from '../agents/index.ts';
import { archiveMessages, countUnread, getMessage, listMessages, MESSAGE_STATUSES, markRead, PRIORITIES, type Priority } from './contract.ts';
import { isExpired, messageExpired, messageNotFound, viewMessage } from './message.ts';
import { changeMessages, findMessage, findMessages, inboxOf, threadOf, unreadByPriority } from './store.ts';

const STATUSES = { unread: ['unread'], read: ['read'], all: ['unread', 'read'] } as const;
/** The maximum number of ids in an event. */
const NAMED = 50;

export const inboxTools: Implementation[] = [
  implement(listMessages, {
    write: async (tx, { agent_id, status, message_type, priority, workflow_id, thread_id, limit, since }, ctx) => {
      await requireOwnAgent(tx.db, ctx.principal, agent_id);
      const filter = { types: message_type, priorities: priority, workflowId: workflow_id, since, limit };
      const found =
        thread_id === undefined
          ? await inboxOf(tx.db, tx.workspace, agent_id, STATUSES[status ?? 'unread'], tx.now, filter)
          : await threadOf(tx.db, tx.workspace, thread_id, agent_id, status ? STATUSES[status] : MESSAGE_STATUSES, tx.now, filter);
      const rows = withinAnswer(found);
      const fresh = rows.filter((row) => row.recipient_id === agent_id && row.delivered_at === null);
      await noteDelivery(tx, ctx, fresh);
      const { count } = await unreadOf(tx.db, tx.workspace, agent_id, tx.now);
      return ok({ messages: rows.map(viewMessage), messages_more: found.length - rows.length, unread_count: count });
    },
  }),
  implement(getMessage, {
    write: async (tx, { id, mark_read }, ctx) => {
      const row = await findMessage(tx.db, tx.workspace, id);
      if (!row) throw messageNotFound(id, 'id');
      const isRecipient = await isOwnAgent(tx, ctx, row.recipient_id);
      const isSender = await isOwnAgent(tx, ctx, row.sender_id);
      if (!isRecipient && !isSender) throw messageNotFound(id, 'id');
      const expired = isExpired(row, tx.now);
      if (expired && !isSender) throw messageExpired(id, row.expires_at as number);
      if (!isRecipient || expired) return ok(viewMessage(row));
      const [delivered] = await noteDelivery(tx, ctx, row.delivered_at === null && !mark_read ? [row] : []);
      const [read] = mark_read ? await readNow(tx, ctx, [row]) : [];
      return ok(viewMessage(read ?? delivered ?? row));
    },
  }),
  implement(markRead, {
    write: async (tx, { message_ids }, ctx) => {
      const rows = await ownReceived(tx, ctx, message_ids);
      const marked = await readNow(
        tx,
        ctx,
        // Expired messages stay unread, so that the sender sees that nobody read them in time.
        rows.filter((row) => !isExpired(row, tx.now)),
      );
      return ok({ success: true, marked: marked.length });
    },
  }),
  implement(archiveMessages, {
    write: async (tx, { message_ids }, ctx) => {
      const rows = (await ownReceived(tx, ctx, message_ids)).filter(({ status }) => status !== 'archived');
      await change(tx, ctx, 'message.archived', rows, { status: 'archived', archived_at: tx.now });
      return ok({ success: true, archived: rows.length });
    },
  }),
  implement(countUnread, {
    read: async ({ agent_id, priority }, { reader, principal, workspace, clock }: CallContext) => {
      await requireOwnAgent(reader, principal, agent_id);
      return ok(await unreadOf(reader, workspace, agent_id, clock.now(), priority));
    },
  }),
];

/**
 * Maximum size of one answer. A body may have 64 KiB, so many messages together may be larger than a client accepts. Messages that do not fit are
 * neither shown nor marked as delivered.
 */
const MAX_CHARACTERS = 1024 * 1024;

function withinAnswer(rows: readonly MessageRow[]): readonly MessageRow[] {
  let characters = 0;
  const end = rows.findIndex(({ body }, index) => (characters += body.length) > MAX_CHARACTERS && index > 0);
  return end < 0 ? rows : rows.slice(0, end);
}

/** Marks messages as delivered. All of them must be undelivered. */
export const noteDelivery = (tx: Tx, ctx: WriteContext, rows: readonly MessageRow[]): Promise<MessageRow[]> =>
  change(tx, ctx, 'message.delivered', rows, { delivered_at: tx.now });

/** Marks those messages that are unread as read. Reading a message also counts as its delivery. */
async function readNow(tx: Tx, ctx: WriteContext, rows: readonly MessageRow[]): Promise<MessageRow[]> {
  const unread = rows.filter(({ status }) => status === 'unread');
  const [before, first] = [unread.filter(({ delivered_at }) => delivered_at !== null), unread.filter(({ delivered_at }) => delivered_at === null)];
  const read = { status: 'read', read_at: tx.now } as const;
  return [...(await change(tx, ctx, 'message.read', before, read)), ...(await change(tx, ctx, 'message.read', first, { ...read, delivered_at: tx.now }))];
}

/** Applies one change to all messages, and appends one event for each recipient. */
async function change(tx: Tx, ctx: WriteContext, kind: string, rows: readonly MessageRow[], values: Partial<MessageRow>): Promise<MessageRow[]> {
  const ids = rows.map(({ id }) => id);
  await changeMessages(tx.db, tx.workspace, ids, values);
  for (const [agentId, received] of Map.groupBy(rows, ({ recipient_id }) => recipient_id)) {
    const payload = { count: received.length, message_ids: received.slice(0, NAMED).map(({ id }) => id) };
    record(tx, ctx, { category: 'work', kind, subject: agentId, payload });
  }
  return rows.map((row) => ({ ...row, ...values }));
}

async function isOwnAgent(tx: Tx, ctx: WriteContext, id: string): Promise<boolean> {
  const agent = await findAgent(tx.db, tx.workspace, id);
  return agent !== undefined && isOwn(agent, ctx.principal);
}

/**
 * Returns the messages with these ids, without duplicates. Refuses if one of them was not received by an agent of the caller, and reports the first
 * such id.
 */
async function ownReceived(tx: Tx, ctx: WriteContext, ids: readonly string[]): Promise<MessageRow[]> {
  const found = new Map((await findMessages(tx.db, tx.workspace, ids)).map((row) => [row.id, row]));
  const own = new Map<string, boolean>();
  for (const { recipient_id } of found.values()) {
    if (!own.has(recipient_id)) own.set(recipient_id, await isOwnAgent(tx, ctx, recipient_id));
  }
  const foreign = ids.find((id) => !own.get(found.get(id)?.recipient_id ?? ''));
  if (foreign !== undefined) throw messageNotFound(foreign, 'message_ids');
  return [...found.values()];
}

interface UnreadMessages {
  readonly count: number;
  readonly by_priority: Record<Priority, number>;
}

/** Counts the unread messages of an agent that have not expired and have one of these priorities. */
export async function unreadOf(db: Db, workspace: string, agentId: string, now: number, priorities: readonly Priority[] = PRIORITIES): Promise<UnreadMessages> {
  const counted = new Map(await unreadByPriority(db, workspace, agentId, now));
  const by_priority = { low: 0, normal: 0, high: 0, urgent: 0 };
  for (const priority of priorities) by_priority[priority] = counted.get(priority) ?? 0;
  return { count: Object.values(by_priority).reduce((sum, each) => sum + each, 0), by_priority };
}
