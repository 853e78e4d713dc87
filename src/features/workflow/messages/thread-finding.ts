import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Principal } from '../../../kernel/call.ts';
import { onlyRow, rowsEndingIn } from '../../../kernel/find-by-suffix.ts';
import { notFound } from '../../../kernel/reply.ts';
import { repositoryName } from '../../../kernel/repo.ts';
import type { Db } from '../../../storage/engine.ts';
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
import { findMessage } from './store.ts';
import { beginnings, beginningsOf, factsOf, type ThreadFacts, type ThreadHead } from './thread-store.ts';

/** The row that begins a thread. Each kind of thread has a separate table. */
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

/** Returns whether the caller or one of the caller's agents takes part in the thread. Questions involve everybody, because they are sent to all people. */
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
  // If people have not answered a question in this thread, the thread waits for that answer, even if another message began the thread.
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

/** Returns each thread once, with its facts. A broadcast has several heads, of which only the first is used. */
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

/** Returns the part of an id that encodes when the row was created. This part can be compared between ids of all kinds. */
export const momentOf = (id: string): string => id.slice(id.indexOf('_') + 1);

interface Page {
  readonly before: string | undefined;
  readonly limit: number;
}

/** A table whose rows begin threads. */
interface Source {
  readonly prefix: string;
  readonly kinds: readonly ThreadKind[];
  find(db: Db, viewer: Principal, id: string): Promise<FoundThread | undefined>;
  /** The rows that were read, newest first, and the threads that begin with them. */
  read(db: Db, viewer: Principal, page: Page): Promise<{ rows: readonly { id: string }[]; found: readonly FoundThread[] }>;
}

/** A table of the team group, in which each row is one thread. */
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

/** Yields threads that began before the moment `before`, newest first. `kind` selects threads of one kind. Reads only as many rows as the caller consumes. */
export async function* newestFirst(db: Db, viewer: Principal, kind: ThreadKind | undefined, before: string | undefined): AsyncGenerator<FoundThread> {
  const sources = SOURCES.filter(({ kinds }) => kind === undefined || kinds.includes(kind));
  const lines = sources.map((source) => threadsOf(db, viewer, source, before));
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

async function* threadsOf(db: Db, viewer: Principal, { prefix, read }: Source, moment: string | undefined): AsyncGenerator<FoundThread, undefined> {
  let before = moment && `${prefix}${moment}`;
  for (;;) {
    const { found, rows } = await read(db, viewer, { before, limit: BATCH_SIZE });
    yield* found;
    if (rows.length < BATCH_SIZE) return undefined;
    before = rows.at(-1)?.id;
    // If few threads match the caller's filter, many batches are read. Other calls may run in between.
    await yieldToEventLoop();
  }
}

/** Returns the thread that contains the message, ask, handoff or announcement with this id. */
export async function requireThread(db: Db, viewer: Principal, id: string): Promise<FoundThread> {
  const found = await byPrefix(db, viewer, id);
  if (found) return found;
  throw notFound(
    'MESSAGE_NOT_FOUND',
    `No message, ask, handoff or announcement has the id ${JSON.stringify(id)}.`,
    'To see their ids, run: covenant messages list',
    'id',
  );
}

const byPrefix = (db: Db, viewer: Principal, id: string): Promise<FoundThread | undefined> =>
  (SOURCES.find(({ prefix }) => id.startsWith(prefix)) ?? MESSAGES).find(db, viewer, id);

/** Finds an unanswered thread by its id or by the end of its id, because people type only the end. */
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
