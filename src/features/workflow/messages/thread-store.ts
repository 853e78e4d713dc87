import { sql } from 'kysely';
import type { Db } from '../../../storage/engine.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import { HUMAN } from './contract.ts';
import { messagesIn } from './store.ts';

/**
 * Reads threads in the form that people see. The message that began a thread represents the thread. A broadcast begins with one message for each
 * recipient, and the first of them represents it.
 */

const HEAD_COLUMNS = [
  'm.workspace_id',
  'm.id',
  'm.thread_id',
  'm.sender_id',
  'm.recipient_id',
  'm.message_type',
  'm.subject',
  'm.priority',
  'm.status',
  'm.workflow_id',
  'm.task_id',
  'm.actor',
  'm.sent_at',
  'm.delivered_at',
  'm.read_at',
  'm.answered_at',
  'm.expires_at',
] as const;

/** A query for messages that begin a thread. It leaves out their bodies, which may be long. Bodies are read only for threads that are shown. */
const beginningsIn = (db: Db, workspace: string) =>
  db
    .selectFrom('messages as m')
    .leftJoin('workflows as w', (join) => join.onRef('w.workspace_id', '=', 'm.workspace_id').onRef('w.id', '=', 'm.workflow_id'))
    .select(HEAD_COLUMNS)
    .select('w.repository_path as repository')
    .where('m.workspace_id', '=', workspace)
    .where('m.reply_to_id', 'is', null);

export type ThreadHead = Awaited<ReturnType<typeof beginnings>>[number];

/**
 * Returns messages that begin a thread, newest first. Because ids rise with time, `before` limits the result to smaller ids. A broadcast begins with
 * several messages.
 */
export async function beginnings(db: Db, workspace: string, { before, limit }: { before: string | undefined; limit: number }) {
  const all = beginningsIn(db, workspace);
  return await (before === undefined ? all : all.where('m.id', '<', before)).orderBy('m.id', 'desc').limit(limit).execute();
}

export async function beginningsOf(db: Db, workspace: string, threadIds: readonly string[]): Promise<ThreadHead[]> {
  if (threadIds.length === 0) return [];
  return await beginningsIn(db, workspace).where('m.thread_id', 'in', threadIds).execute();
}

/**
 * Returns threads with a message that was sent after `since` and was not delivered to its agent yet, newest first. The conditions must be the same as
 * in the partial index on such messages, because otherwise the database does not use that index.
 */
export async function undeliveredThreads(db: Db, workspace: string, since: number, now: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('messages')
    .select('thread_id')
    .where('workspace_id', '=', workspace)
    .where('recipient_id', '!=', HUMAN)
    .where('status', '=', sql.lit('unread'))
    .where('delivered_at', 'is', null)
    .where('sent_at', '>', since)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .orderBy('sent_at', 'desc')
    .limit(limit)
    .execute();
  return [...new Set(rows.map(({ thread_id }) => thread_id))];
}

/** Threads with questions that wait for a person, oldest first. */
export async function openQuestionThreads(db: Db, workspace: string, now: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('messages')
    .select('thread_id')
    .where('workspace_id', '=', workspace)
    .where('recipient_id', '=', HUMAN)
    .where('status', '=', 'unread')
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .orderBy('sent_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ thread_id }) => thread_id);
}

export interface ThreadFacts {
  /** The first of the messages that begin the thread. */
  readonly first_id: string;
  /** The number of recipients of the first message. */
  readonly recipients: number;
  readonly delivered: number;
  readonly read: number;
  readonly last_delivered_at: number | null;
  readonly last_read_at: number | null;
  /** The number of replies. */
  readonly replies: number;
  /** The number of replies that were not delivered. */
  readonly unseen_replies: number;
  /** The time of the first reply to the sender. */
  readonly replied_at: number | null;
  /** An unanswered question to people. */
  readonly open_question: string | null;
  /** The sender and all recipients. */
  readonly parties: readonly string[];
}

/** Returns the facts of each thread. Threads that do not exist are missing from the result. */
export async function factsOf(db: Db, workspace: string, heads: readonly Pick<MessageRow, 'thread_id' | 'sender_id'>[]): Promise<Map<string, ThreadFacts>> {
  const senders = new Map(heads.map(({ thread_id, sender_id }) => [thread_id, sender_id]));
  if (senders.size === 0) return new Map();
  const rows = await countsIn(db, workspace, [...senders.keys()]);
  const facts = new Map<string, ThreadFacts>();
  for (const [threadId, some] of Map.groupBy(rows, ({ thread_id }) => thread_id)) {
    const sum = (of: (row: (typeof some)[number]) => unknown) => some.reduce((total, row) => total + Number(of(row)), 0);
    const latest = (of: (row: (typeof some)[number]) => unknown) =>
      some.map(of).reduce<number | null>((last, at) => (at === null ? last : Math.max(last ?? 0, Number(at))), null);
    const sender = senders.get(threadId) as string;
    const toSender = some.find(({ recipient_id }) => recipient_id === sender);
    facts.set(threadId, {
      first_id:
        some
          .map(({ first_id }) => String(first_id ?? ''))
          .filter(Boolean)
          .toSorted()[0] ?? '',
      recipients: sum(({ recipients }) => recipients),
      delivered: sum(({ delivered }) => delivered),
      read: sum(({ read }) => read),
      last_delivered_at: latest(({ last_delivered_at }) => last_delivered_at),
      last_read_at: latest(({ last_read_at }) => last_read_at),
      replies: sum(({ replies }) => replies),
      unseen_replies: sum(({ unseen_replies }) => unseen_replies),
      replied_at: toSender?.replied_at == null ? null : Number(toSender.replied_at),
      open_question: some.find(({ recipient_id }) => recipient_id === HUMAN)?.unread_id ?? null,
      parties: [sender, ...some.map(({ recipient_id }) => recipient_id)],
    });
  }
  return facts;
}

/** A query that counts the messages for each thread and recipient. */
const countsIn = (db: Db, workspace: string, threadIds: readonly string[]) =>
  db
    .selectFrom('messages')
    .select((eb) => {
      const begun = <T>(value: T) => eb.case().when('reply_to_id', 'is', null).then(value).end();
      const reply = eb('reply_to_id', 'is not', null);
      const isUnseen = eb.and([reply, eb('delivered_at', 'is', null), eb('status', '=', 'unread'), eb('recipient_id', '!=', HUMAN)]);
      return [
        'thread_id',
        'recipient_id',
        eb.fn.min(begun(eb.ref('id'))).as('first_id'),
        eb.fn.count<string | number>(begun(eb.ref('id'))).as('recipients'),
        eb.fn.count<string | number>(begun(eb.ref('delivered_at'))).as('delivered'),
        eb.fn.count<string | number>(begun(eb.ref('read_at'))).as('read'),
        eb.fn.max(begun(eb.ref('delivered_at'))).as('last_delivered_at'),
        eb.fn.max(begun(eb.ref('read_at'))).as('last_read_at'),
        eb.fn.count<string | number>('reply_to_id').as('replies'),
        eb.fn.count<string | number>(eb.case().when(isUnseen).then(1).end()).as('unseen_replies'),
        eb.fn.min(eb.case().when(reply).then(eb.ref('sent_at')).end()).as('replied_at'),
        eb.fn.min(eb.case().when('status', '=', 'unread').then(eb.ref('id')).end()).as('unread_id'),
      ];
    })
    .where('workspace_id', '=', workspace)
    .where('thread_id', 'in', threadIds)
    .groupBy(['thread_id', 'recipient_id'])
    .execute();

/** The last messages of a thread, in the order in which they were sent. */
export async function lastOf(db: Db, workspace: string, threadId: string, limit: number): Promise<MessageRow[]> {
  const rows = await messagesIn(db, workspace).where('thread_id', '=', threadId).orderBy('sent_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.reverse();
}

/** The first messages of a thread; a broadcast has one for each recipient. */
export async function firstOf(db: Db, workspace: string, threadId: string, limit: number): Promise<MessageRow[]> {
  const begun = messagesIn(db, workspace).where('thread_id', '=', threadId).where('reply_to_id', 'is', null);
  return await begun.orderBy('sent_at').orderBy('id').limit(limit).execute();
}
