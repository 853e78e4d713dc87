import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Principal } from '../../../kernel/call.ts';
import { notFound } from '../../../kernel/reply.ts';
import { repositoryName } from '../../../kernel/repo.ts';
import { onlyRow, rowsEndingIn } from '../../../kernel/tail.ts';
import type { Db } from '../../../storage/engine.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import {
  type AnnouncementRow,
  type AskRow,
  announcementSlice,
  askSlice,
  findAnnouncement,
  findAsk,
  findHandoff,
  type HandoffRow,
  handoffSlice,
} from '../../team/coordination/index.ts';
import { agentsById } from '../agents/index.ts';
import { HUMAN } from './contract.ts';
import type { DeliveryState, ThreadKind } from './delivery.ts';
import { findMessage, messagesIn } from './store.ts';

/** What begins a thread, as its own feature keeps it. */
export type FoundThread =
  | { readonly of: 'messages'; readonly row: ThreadHead; readonly facts: ThreadFacts; readonly takesPart: boolean }
  | { readonly of: 'asks'; readonly row: AskRow }
  | { readonly of: 'handoffs'; readonly row: HandoffRow }
  | { readonly of: 'announcements'; readonly row: AnnouncementRow };

export const kindOf = (found: FoundThread): ThreadKind => {
  if (found.of === 'messages') return found.row.recipient_id === HUMAN || found.facts.open_question !== null ? 'question' : 'message';
  return found.of === 'asks' ? 'ask' : found.of === 'handoffs' ? 'handoff' : 'announcement';
};

export const repositoryOf = ({ of, row }: FoundThread): string | null => {
  const known = of === 'messages' ? row.repository : row.repo;
  return known === null ? null : repositoryName(known);
};

/** Whether `viewer` or their agents take part; questions are for all people. */
export function involves(found: FoundThread, { developerId }: Principal): boolean {
  if (found.of === 'messages') return found.takesPart || kindOf(found) === 'question';
  if (found.of === 'announcements') return found.row.developer_id === developerId;
  return found.row.from_developer_id === developerId || found.row.to_developer_id === developerId;
}

const UNKNOWN = {
  recipients: 1,
  delivered: 0,
  delivered_at: null,
  read: 0,
  read_at: null,
  answered_at: null,
  wants_answer: false,
  due_at: null,
  expires_at: null,
  unseen_replies: 0,
};

/** How far it has come. */
export function deliveryOf(found: FoundThread): DeliveryState {
  const kind = kindOf(found);
  if (found.of === 'announcements') return { ...UNKNOWN, kind, sent_at: found.row.created_at };
  if (found.of === 'handoffs') return { ...UNKNOWN, kind, sent_at: found.row.created_at, answered_at: found.row.accepted_at };
  if (found.of === 'asks') {
    const { created_at, delivered_at, read_at, answered_at, due_at } = found.row;
    const receipts = { delivered: Number(delivered_at !== null), delivered_at, read: Number(read_at !== null), read_at };
    return { ...UNKNOWN, ...receipts, kind, sent_at: created_at, answered_at, due_at, wants_answer: true };
  }
  const { sent_at, message_type, expires_at, answered_at } = found.row;
  const { recipients, delivered, read, last_delivered_at, last_read_at, unseen_replies, replied_at, open_question } = found.facts;
  // A later question in the same thread is what it waits for now.
  if (open_question !== null) return { ...UNKNOWN, kind, sent_at, wants_answer: true, due_at: expires_at };
  return {
    kind,
    sent_at,
    recipients,
    delivered,
    delivered_at: last_delivered_at,
    read,
    read_at: last_read_at,
    answered_at: kind === 'question' ? answered_at : replied_at,
    wants_answer: message_type === 'query',
    due_at: message_type === 'query' ? expires_at : null,
    expires_at,
    unseen_replies,
  };
}

/** Each thread once, with what is to be known of it. */
export async function withFacts(db: Db, { workspace, developerId }: Principal, heads: readonly ThreadHead[]): Promise<FoundThread[]> {
  const facts = await factsOf(db, workspace, heads);
  const first = heads.filter(({ id, thread_id }) => facts.get(thread_id)?.first_id === id);
  const parties = new Set(first.flatMap(({ thread_id }) => facts.get(thread_id)?.parties ?? []));
  const agents = developerId === null ? new Map() : await agentsById(db, workspace, [...parties]);
  return first.map((row) => {
    const known = facts.get(row.thread_id) as ThreadFacts;
    return { of: 'messages', row, facts: known, takesPart: known.parties.some((id) => agents.get(id)?.developer_id === developerId) };
  });
}

/** The part of an id that tells the time; of all kinds alike. */
export const momentOf = (id: string): string => id.slice(id.indexOf('_') + 1);

interface Page {
  readonly before: string | undefined;
  readonly limit: number;
}

/** One table in which threads begin. */
interface Source {
  readonly prefix: string;
  readonly kinds: readonly ThreadKind[];
  find(db: Db, viewer: Principal, id: string): Promise<FoundThread | undefined>;
  /** The rows that were read, the newest first, and the threads that begin with them. */
  read(db: Db, viewer: Principal, page: Page): Promise<{ rows: readonly { id: string }[]; found: readonly FoundThread[] }>;
}

/** Of the team's features. Each row is a thread by itself. */
function teamSource<Of extends Exclude<FoundThread['of'], 'messages'>, R extends Extract<FoundThread, { of: Of }>['row']>(
  of: Of,
  prefix: string,
  kind: ThreadKind,
  findOne: (db: Db, workspace: string, id: string) => Promise<R | undefined>,
  slice: (db: Db, workspace: string, page: Page) => Promise<R[]>,
): Source {
  const thread = (row: R) => ({ of, row }) as unknown as FoundThread;
  return {
    prefix,
    kinds: [kind],
    async find(db, { workspace }, id) {
      const row = await findOne(db, workspace, id);
      return row && thread(row);
    },
    async read(db, { workspace }, page) {
      const rows = await slice(db, workspace, page);
      return { rows, found: rows.map(thread) };
    },
  };
}

const MESSAGES: Source = {
  prefix: 'msg_',
  kinds: ['message', 'question'],
  async find(db, viewer, id) {
    const { workspace } = viewer;
    const threadId = id.startsWith('thr_') ? id : (await findMessage(db, workspace, id))?.thread_id;
    const [found] = threadId === undefined ? [] : await withFacts(db, viewer, await beginningsOf(db, workspace, [threadId]));
    return found;
  },
  async read(db, viewer, page) {
    const rows = await beginnings(db, viewer.workspace, page);
    return { rows, found: await withFacts(db, viewer, rows) };
  },
};

const SOURCES: readonly Source[] = [
  MESSAGES,
  teamSource('asks', 'ask_', 'ask', findAsk, askSlice),
  teamSource('handoffs', 'handoff_', 'handoff', findHandoff, handoffSlice),
  teamSource('announcements', 'ann_', 'announcement', findAnnouncement, announcementSlice),
];

const BATCH_SIZE = 100;

/** Of one kind or of all, the newest first, from before that moment. Read as far as it is asked for. */
export async function* newestFirst(db: Db, viewer: Principal, kind: ThreadKind | undefined, before: string | undefined): AsyncGenerator<FoundThread> {
  const sources = SOURCES.filter(({ kinds }) => kind === undefined || kinds.includes(kind));
  const lines = sources.map((source) => inTurn(db, viewer, source, before));
  const heads = await Promise.all(lines.map((line) => line.next()));
  for (;;) {
    let latest = -1;
    for (const [index, { value }] of heads.entries()) {
      const best = heads[latest]?.value;
      if (value && (!best || momentOf(value.row.id) > momentOf(best.row.id))) latest = index;
    }
    const found = heads[latest]?.value;
    if (!found) return;
    yield found;
    heads[latest] = await (lines[latest] as AsyncGenerator<FoundThread, undefined>).next();
  }
}

async function* inTurn(db: Db, viewer: Principal, { prefix, read }: Source, moment: string | undefined): AsyncGenerator<FoundThread, undefined> {
  let before = moment && `${prefix}${moment}`;
  for (;;) {
    const { found, rows } = await read(db, viewer, { before, limit: BATCH_SIZE });
    yield* found;
    if (rows.length < BATCH_SIZE) return undefined;
    before = rows.at(-1)?.id;
    // A filter that leaves little reads many of these: others are served between them.
    await yieldToEventLoop();
  }
}

/** The thread that it belongs to. */
export async function requireThread(db: Db, viewer: Principal, id: string): Promise<FoundThread> {
  const found = await byPrefix(db, viewer, id);
  if (found) return found;
  throw notFound(
    'MESSAGE_NOT_FOUND',
    `There is no message, ask, handoff or announcement ${JSON.stringify(id)}.`,
    'covenant messages list names those there are.',
    'id',
  );
}

const byPrefix = (db: Db, viewer: Principal, id: string): Promise<FoundThread | undefined> =>
  (SOURCES.find(({ prefix }) => id.startsWith(prefix)) ?? MESSAGES).find(db, viewer, id);

/** What waits for an answer, by its id or the end of it, as people type it. */
export async function unansweredNamed(db: Db, viewer: Principal, tail: string): Promise<FoundThread> {
  const whole = await byPrefix(db, viewer, tail);
  if (whole) return whole;
  const asks = db.selectFrom('asks').select('id').where('workspace_id', '=', viewer.workspace).where('answered_at', 'is', null);
  const questions = db
    .selectFrom('messages')
    .select('id')
    .where('workspace_id', '=', viewer.workspace)
    .where('recipient_id', '=', HUMAN)
    .where('status', '=', 'unread');
  const { id } = onlyRow([...(await rowsEndingIn(asks, tail)), ...(await rowsEndingIn(questions, tail))], tail, 'message');
  return await requireThread(db, viewer, id);
}

/** Threads as people see them: each stands at the message that began it. Of a broadcast that is the first of its messages. */

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

/** Without the body, which may be long: it is read for those that are shown. */
const beginningsIn = (db: Db, workspace: string) =>
  db
    .selectFrom('messages as m')
    .leftJoin('workflows as w', (join) => join.onRef('w.workspace_id', '=', 'm.workspace_id').onRef('w.id', '=', 'm.workflow_id'))
    .select(HEAD_COLUMNS)
    .select('w.repository_path as repository')
    .where('m.workspace_id', '=', workspace)
    .where('m.reply_to_id', 'is', null);

type ThreadHead = Awaited<ReturnType<typeof beginnings>>[number];

/** Messages that begin a thread, the newest first, from the one before `before`: ids rise with time. A broadcast begins with many. */
async function beginnings(db: Db, workspace: string, { before, limit }: { before: string | undefined; limit: number }) {
  const all = beginningsIn(db, workspace);
  return await (before === undefined ? all : all.where('m.id', '<', before)).orderBy('m.id', 'desc').limit(limit).execute();
}

export async function beginningsOf(db: Db, workspace: string, threadIds: readonly string[]): Promise<ThreadHead[]> {
  if (threadIds.length === 0) return [];
  return await beginningsIn(db, workspace).where('m.thread_id', 'in', threadIds).execute();
}

/**
 * Threads with a message that has not reached its agent since then, the newest first. Its conditions stand in the statement as they
 * stand in the index of such messages.
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

/** Threads of questions that wait for a person, the oldest first. */
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

interface ThreadFacts {
  /** The first of the messages that begin it. */
  readonly first_id: string;
  /** Who got it from the one who began. */
  readonly recipients: number;
  readonly delivered: number;
  readonly read: number;
  readonly last_delivered_at: number | null;
  readonly last_read_at: number | null;
  /** What was said in it since. */
  readonly replies: number;
  /** Of those, how many their agents have not got. */
  readonly unseen_replies: number;
  /** When whoever began it first got something back. */
  readonly replied_at: number | null;
  /** A question to people that waits for its answer. */
  readonly open_question: string | null;
  /** Whom something in it was for, and who began it. */
  readonly parties: readonly string[];
}

/** How far each thread has come; only of those that are there. */
async function factsOf(db: Db, workspace: string, heads: readonly Pick<MessageRow, 'thread_id' | 'sender_id'>[]): Promise<Map<string, ThreadFacts>> {
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

/** Of each thread, by whom its messages were for. */
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

/** The last ones of a thread, in the order in which they were sent. */
export async function lastOf(db: Db, workspace: string, threadId: string, limit: number): Promise<MessageRow[]> {
  const rows = await messagesIn(db, workspace).where('thread_id', '=', threadId).orderBy('sent_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.reverse();
}

/** What began a thread: of a broadcast, to each of these. */
export async function firstOf(db: Db, workspace: string, threadId: string, limit: number): Promise<MessageRow[]> {
  const begun = messagesIn(db, workspace).where('thread_id', '=', threadId).where('reply_to_id', 'is', null);
  return await begun.orderBy('sent_at').orderBy('id').limit(limit).execute();
}
