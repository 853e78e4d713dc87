import type { CallContext, Principal } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { eventsAbout } from '../../../storage/journal.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import { openAsks, readStrings } from '../../team/coordination/index.ts';
import type { listThreads, showThread, ThreadEntry } from './contract.ts';
import { hasState, PRESSING_MS, rankOf, remindableFrom } from './delivery.ts';
import { bodyText } from './message.ts';
import { deliveryOf, type FoundThread, involves, kindOf, momentOf, newestFirst, repositoryOf, requireThread, withFacts } from './thread-finding.ts';
import { beginningsOf, firstOf, lastOf, openQuestionThreads, undeliveredThreads } from './thread-store.ts';
import { endsOf, mayBeReminded, mayReadIn, type Parties, partiesFor, threadViews } from './thread-views.ts';

type ThreadsInput = Input<typeof listThreads>;

/** Maximum number of pressing threads in an answer. Further threads appear as soon as these are handled. */
const MAX_PRESSING = 100;
/** Number of rows of each kind that are searched for pressing threads. */
const CONSIDERED = 200;
/**
 * Maximum number of rows that are read for one page. If few of them match, the page is short and returns where to continue. Otherwise one call could
 * read the whole table.
 */
const MAX_EXAMINED = 2_000;

export async function readThreads({ reader, principal, clock }: CallContext, filter: ThreadsInput): Promise<Output<typeof listThreads>> {
  const now = clock.now();
  const isIncluded = (found: FoundThread): boolean =>
    (filter.kind === undefined || kindOf(found) === filter.kind) &&
    (filter.repo === undefined || repositoryOf(found) === filter.repo) &&
    (!filter.mine || involves(found, principal));
  const all = (await pressingOf(reader, principal, now)).filter((found) => isIncluded(found) && hasState(filter.state, deliveryOf(found), now));
  const pressing = all.slice(0, MAX_PRESSING);
  // Pressing threads are listed only once, at the top. They are left out of the list below and of later pages.
  const above = new Set(pressing.map(({ row }) => row.id));
  const { items, next } = await pageOf(reader, principal, now, filter, (found) => isIncluded(found) && !above.has(found.row.id));
  const first = filter.before === undefined;
  return {
    pressing: first ? await threadViews(reader, principal, now, pressing) : [],
    pressing_cut: first && all.length > MAX_PRESSING,
    items: await threadViews(reader, principal, now, items),
    next,
  };
}

/** Returns the pressing threads in the order of the list. Open questions and asks are included regardless of their age. */
async function pressingOf(db: Db, viewer: Principal, now: number): Promise<FoundThread[]> {
  const { workspace } = viewer;
  const questions = await openQuestionThreads(db, workspace, now, CONSIDERED);
  const undelivered = await undeliveredThreads(db, workspace, now - PRESSING_MS, now, CONSIDERED);
  const heads = await beginningsOf(db, workspace, [...new Set([...questions, ...undelivered])]);
  const asks = await openAsks(db, workspace, now, CONSIDERED);
  const all: FoundThread[] = [...(await withFacts(db, viewer, heads)), ...asks.map((row) => ({ of: 'asks', row }) as const)];
  const ranked = all.map((found) => ({ found, rank: rankOf(deliveryOf(found), now), moment: momentOf(found.row.id) })).filter(({ rank }) => rank < 2);
  return ranked.sort((a, b) => a.rank - b.rank || (a.moment > b.moment ? -1 : 1)).map(({ found }) => found);
}

/** One page of threads, newest first. */
async function pageOf(db: Db, viewer: Principal, now: number, { kind, state, before, limit }: ThreadsInput, isIncluded: (found: FoundThread) => boolean) {
  const items: FoundThread[] = [];
  let examined = 0;
  let last: FoundThread | undefined;
  for await (const found of newestFirst(db, viewer, kind, before)) {
    if ((items.length === limit || examined === MAX_EXAMINED) && last) return { items, next: momentOf(last.row.id) };
    if (isIncluded(found) && hasState(state, deliveryOf(found), now)) items.push(found);
    examined++;
    last = found;
  }
  return { items, next: null };
}

const MAX_ENTRIES = 100;
const MAX_RECIPIENTS = 200;
const LONGEST_TEXT = 20_000;

type Shown = Output<typeof showThread>;
type Listed = Pick<Shown, 'entries' | 'entries_cut' | 'recipients'>;

export async function readThread({ reader, principal, clock }: CallContext, id: string): Promise<Shown> {
  const now = clock.now();
  const found = await requireThread(reader, principal, id);
  const delivery = deliveryOf(found);
  const [thread] = await threadViews(reader, principal, now, [found]);
  if (!thread) throw new Error(`the thread ${id} has no view`);
  const mail = found.of === 'messages' ? await readMail(reader, found, delivery.recipients) : { last: [], first: [] };
  const ends = [...mail.last, ...mail.first].flatMap(({ sender_id, recipient_id }) => [sender_id, recipient_id]);
  const parties = await partiesFor(reader, principal, now, ends);
  const reminders = await remindersOf(reader, principal.workspace, found.row.id);
  const listed = found.of === 'messages' ? mailEntries(mail, thread.replies, parties, (row) => mayReadIn(found, row, principal)) : teamEntries(found, parties);
  const reminded: ThreadEntry[] = reminders.map(({ seq, actor, time }) => ({
    id: String(seq),
    what: 'reminder',
    from: parties.actor(actor),
    to: null,
    text: null,
    at: time,
    delivered_at: null,
    read_at: null,
  }));
  return {
    thread,
    ...listed,
    entries: [...listed.entries, ...reminded].sort((a, b) => a.at - b.at),
    about: aboutOf(found),
    remindable_from: mayBeReminded(found, delivery, now) ? remindableFrom(delivery.sent_at, reminders[0]?.time ?? null) : null,
  };
}

interface Mail {
  readonly last: readonly MessageRow[];
  /** The first messages of a broadcast. */
  readonly first: readonly MessageRow[];
}

async function readMail(db: CallContext['reader'], { row }: Extract<FoundThread, { of: 'messages' }>, recipients: number): Promise<Mail> {
  const workspace = row.workspace_id;
  const first = recipients > 1 ? await firstOf(db, workspace, row.thread_id, MAX_RECIPIENTS) : [];
  return { first, last: await lastOf(db, workspace, row.thread_id, MAX_ENTRIES) };
}

/** A broadcast is shown as one entry, even if it has many recipients. */
function mailEntries({ last, first }: Mail, replies: number, parties: Parties, isReadable: (row: MessageRow) => boolean): Listed {
  const mail = first.length > 0 ? [...first.slice(0, 1), ...last.filter(({ reply_to_id }) => reply_to_id !== null)] : last;
  const entries = mail.map(
    (row): ThreadEntry => ({
      id: row.id,
      what: 'message',
      from: parties.agent(row.sender_id, row.actor),
      to: first.length > 0 && row.reply_to_id === null ? null : parties.agent(row.recipient_id, null),
      text: isReadable(row) ? beginning(bodyText(row), LONGEST_TEXT) : null,
      at: row.sent_at,
      delivered_at: row.delivered_at,
      read_at: row.read_at,
    }),
  );
  return {
    entries,
    entries_cut: Math.max(0, replies + 1 - entries.length),
    recipients: first.map((row) => ({ to: parties.agent(row.recipient_id, null), delivered_at: row.delivered_at, read_at: row.read_at })),
  };
}

function teamEntries(found: Exclude<FoundThread, { of: 'messages' }>, parties: Parties): Listed {
  const { from, to } = endsOf(found, parties);
  const { id, message, created_at: at } = found.row;
  const receipts = found.of === 'asks' ? { delivered_at: found.row.delivered_at, read_at: found.row.read_at } : { delivered_at: null, read_at: null };
  const entries: ThreadEntry[] = [{ id, what: 'message', from, to, text: message, at, ...receipts }];
  if (found.of === 'asks' && found.row.answered_at !== null) {
    const { answer, answered_at, answer_delivered_at } = found.row;
    entries.push({
      id: `${id}-answer`,
      what: 'answer',
      from: to,
      to: from,
      text: answer ?? '',
      at: answered_at,
      delivered_at: answer_delivered_at,
      read_at: null,
    });
  }
  return { entries, entries_cut: 0, recipients: [] };
}

const NOTHING: Shown['about'] = {
  repo: null,
  branch: null,
  paths: [],
  task_ids: [],
  claim_ids: [],
  context_id: null,
  workflow_id: null,
  workflow_task_id: null,
};

function aboutOf(found: FoundThread): Shown['about'] {
  if (found.of === 'messages') {
    const { repository, workflow_id, task_id } = found.row;
    return { ...NOTHING, repo: repository, workflow_id, workflow_task_id: task_id };
  }
  if (found.of !== 'handoffs') return { ...NOTHING, repo: found.row.repo, paths: readStrings(found.row.paths) };
  const { repo, branch, context_id, task_ids, claim_ids } = found.row;
  return { ...NOTHING, repo, branch, context_id, task_ids: readStrings(task_ids), claim_ids: readStrings(claim_ids) };
}

/** Reminders are stored only as events in the journal. They can be found quickly, because the journal has an index by subject. */
const REMINDED = ['ask.reminded', 'question.reminded', 'message.reminded'] as const;

const MAX_REMINDERS = 20;

interface Reminder {
  readonly seq: number;
  readonly actor: string;
  readonly time: number;
}

/** The last reminders, newest first. */
export async function remindersOf(db: Db, workspace: string, subject: string): Promise<Reminder[]> {
  return await eventsAbout(db, workspace, [subject])
    .select(['seq', 'actor', 'time'])
    .where('kind', 'in', REMINDED)
    .orderBy('seq', 'desc')
    .limit(MAX_REMINDERS)
    .execute();
}
