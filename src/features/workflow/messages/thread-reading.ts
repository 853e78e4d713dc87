import type { CallContext, Principal } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { ownerOf } from '../../../kernel/ids.ts';
import type { Db } from '../../../storage/engine.ts';
import { eventsAbout } from '../../../storage/journal.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import { isAddressedTo, openAsks, readStrings } from '../../team/coordination/index.ts';
import { agentsById, agentViewer } from '../agents/index.ts';
import { HUMAN, type listThreads, type Party, SERVER, type showThread, type ThreadEntry, type ThreadView } from './contract.ts';
import { type DeliveryState, isIn, isUnanswered, PRESSING_MS, rankOf, remindableFrom, statusOf, stepsOf } from './delivery.ts';
import { bodyText } from './message.ts';
import { findMessages } from './store.ts';
import {
  beginningsOf,
  deliveryOf,
  type FoundThread,
  firstOf,
  involves,
  kindOf,
  lastOf,
  momentOf,
  newestFirst,
  openQuestionThreads,
  repositoryOf,
  requireThread,
  undeliveredThreads,
  withFacts,
} from './thread-finding.ts';

type ThreadsInput = Input<typeof listThreads>;

/** Who has more of them than this has the first of them to look at first. */
const MAX_PRESSING = 100;
/** What is looked through for them, of each kind. */
const CONSIDERED = 200;
/** A page that finds little says where to read on, instead of reading all there is. */
const MAX_EXAMINED = 2_000;

export async function readThreads({ reader, principal, clock }: CallContext, wanted: ThreadsInput): Promise<Output<typeof listThreads>> {
  const now = clock.now();
  const isWanted = (found: FoundThread): boolean =>
    (wanted.kind === undefined || kindOf(found) === wanted.kind) &&
    (wanted.repo === undefined || repositoryOf(found) === wanted.repo) &&
    (!wanted.mine || involves(found, principal));
  const all = (await pressingOf(reader, principal, now)).filter((found) => isWanted(found) && isIn(wanted.state, deliveryOf(found), now));
  const pressing = all.slice(0, MAX_PRESSING);
  // Each once: what stands above does not stand below, also not on a later page.
  const above = new Set(pressing.map(({ row }) => row.id));
  const { items, next } = await pageOf(reader, principal, now, wanted, (found) => isWanted(found) && !above.has(found.row.id));
  const first = wanted.before === undefined;
  return {
    pressing: first ? await threadViews(reader, principal, now, pressing) : [],
    pressing_cut: first && all.length > MAX_PRESSING,
    items: await threadViews(reader, principal, now, items),
    next,
  };
}

/** Those that stand first, in their order: found by what keeps them open, however much was said since. */
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

/** The newest first. */
async function pageOf(db: Db, viewer: Principal, now: number, { kind, state, before, limit }: ThreadsInput, isWanted: (found: FoundThread) => boolean) {
  const items: FoundThread[] = [];
  let examined = 0;
  let last: FoundThread | undefined;
  for await (const found of newestFirst(db, viewer, kind, before)) {
    if ((items.length === limit || examined === MAX_EXAMINED) && last) return { items, next: momentOf(last.row.id) };
    if (isWanted(found) && isIn(state, deliveryOf(found), now)) items.push(found);
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
  const said = found.of === 'messages' ? await inMessages(reader, found, delivery.recipients) : { last: [], first: [] };
  const ends = [...said.last, ...said.first].flatMap(({ sender_id, recipient_id }) => [sender_id, recipient_id]);
  const parties = await partiesFor(reader, principal, now, ends);
  const reminders = await remindersOf(reader, principal.workspace, found.row.id);
  const listed = found.of === 'messages' ? mailOf(said, thread.replies, parties, (row) => mayReadIn(found, row, principal)) : saidIn(found, parties);
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
  /** Of a broadcast. */
  readonly first: readonly MessageRow[];
}

async function inMessages(db: CallContext['reader'], { row }: Extract<FoundThread, { of: 'messages' }>, recipients: number): Promise<Mail> {
  const workspace = row.workspace_id;
  const first = recipients > 1 ? await firstOf(db, workspace, row.thread_id, MAX_RECIPIENTS) : [];
  return { first, last: await lastOf(db, workspace, row.thread_id, MAX_ENTRIES) };
}

/** A broadcast is said once, to however many. */
function mailOf({ last, first }: Mail, replies: number, parties: Parties, isReadable: (row: MessageRow) => boolean): Listed {
  const said = first.length > 0 ? [...first.slice(0, 1), ...last.filter(({ reply_to_id }) => reply_to_id !== null)] : last;
  const entries = said.map(
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

function saidIn(found: Exclude<FoundThread, { of: 'messages' }>, parties: Parties): Listed {
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

const SUBJECT_SHOWN = 200;

type Letter = Pick<MessageRow, 'sender_id' | 'recipient_id'>;

/**
 * Agents' mail is theirs: of others', people see that it was sent and how far it came. What people write, or are asked, is
 * for all, but not what agents say to each other in the same thread.
 */
const mayReadIn = (found: FoundThread, { sender_id, recipient_id }: Letter, viewer: Principal): boolean =>
  found.of !== 'messages' || viewer.operator || found.takesPart || sender_id === HUMAN || recipient_id === HUMAN;

/** The message whose words a thread is listed by: the first one, or else the question that it waits for. */
const toldBy = (found: FoundThread, viewer: Principal): string | null =>
  found.of !== 'messages' || mayReadIn(found, found.row, viewer) ? found.row.id : found.facts.open_question;

/** Without reading on: a body may be long. */
function knownWords(found: FoundThread, viewer: Principal): string | undefined {
  if (found.of !== 'messages') return found.row.message;
  return toldBy(found, viewer) === found.row.id ? (found.row.subject ?? undefined) : undefined;
}

/** Whether the signed-in person is the one to answer. The operator stands in for whom an ask was put to. */
export function mayAnswer(found: FoundThread, viewer: Principal): boolean {
  if (found.of === 'asks') return viewer.kind === 'operator' || isAddressedTo(found.row, viewer);
  return kindOf(found) === 'question';
}

export const mayBeReminded = (found: FoundThread, delivery: DeliveryState, now: number): boolean =>
  isUnanswered(delivery, now) && (found.of === 'asks' || found.of === 'messages') && delivery.recipients === 1;

async function threadViews(db: Db, viewer: Principal, now: number, all: readonly FoundThread[]): Promise<ThreadView[]> {
  const ends = all.flatMap(({ of, row }) => (of === 'messages' ? [row.sender_id, row.recipient_id] : []));
  const parties = await partiesFor(db, viewer, now, ends);
  const words = await wordsOf(
    db,
    viewer.workspace,
    all.flatMap((found) => (knownWords(found, viewer) === undefined ? (toldBy(found, viewer) ?? []) : [])),
  );
  return all.map((found) => {
    const delivery = deliveryOf(found);
    const unanswered = isUnanswered(delivery, now);
    return {
      id: found.row.id,
      kind: kindOf(found),
      type: found.of === 'messages' ? found.row.message_type : null,
      ...endsOf(found, parties),
      recipients: delivery.recipients,
      subject: subjectOf(knownWords(found, viewer) ?? words.get(toldBy(found, viewer) ?? '')),
      priority: found.of === 'messages' ? found.row.priority : null,
      repository: repositoryOf(found),
      status: statusOf(delivery, now),
      steps: stepsOf(delivery),
      sent_at: delivery.sent_at,
      due_at: delivery.due_at,
      replies: found.of === 'asks' ? Number(found.row.answered_at !== null) : found.of === 'messages' ? found.facts.replies : 0,
      answerable: unanswered && mayAnswer(found, viewer),
      remindable: mayBeReminded(found, delivery, now),
    };
  });
}

function endsOf(found: FoundThread, parties: Parties): { from: Party; to: Party } {
  if (found.of === 'messages') {
    const { sender_id, recipient_id, actor } = found.row;
    return { from: parties.agent(sender_id, actor), to: parties.agent(recipient_id, null) };
  }
  if (found.of === 'announcements') return { from: parties.developer(found.row.developer_id), to: { name: 'the team', agent_id: null } };
  const { from_developer_id, to_developer_id, to_agent_type } = found.row;
  const from = found.of === 'asks' ? parties.actor(found.row.from_actor, from_developer_id) : parties.developer(from_developer_id);
  return { from, to: parties.developer(to_developer_id, to_agent_type) };
}

async function wordsOf(db: Db, workspace: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  return new Map((await findMessages(db, workspace, ids)).map((row) => [row.id, row.subject ?? bodyText(row)]));
}

function subjectOf(words: string | undefined): string | null {
  if (words === undefined) return null;
  // Only what may be shown is worth tidying: a text may have a quarter of a million characters.
  return beginning(
    words
      .slice(0, SUBJECT_SHOWN * 4)
      .replace(/\s+/g, ' ')
      .trim(),
    SUBJECT_SHOWN,
  );
}

/** Reminders are events and nothing else: by subject the journal has an index. */
const REMINDED = ['ask.reminded', 'question.reminded', 'message.reminded'] as const;

const MAX_REMINDERS = 20;

interface Reminder {
  readonly seq: number;
  readonly actor: string;
  readonly time: number;
}

/** The last ones, the newest first. */
export async function remindersOf(db: Db, workspace: string, subject: string): Promise<Reminder[]> {
  return await eventsAbout(db, workspace, [subject])
    .select(['seq', 'actor', 'time'])
    .where('kind', 'in', REMINDED)
    .orderBy('seq', 'desc')
    .limit(MAX_REMINDERS)
    .execute();
}

/** Who speaks and who is spoken to, as one viewer may know them. */
interface Parties {
  developer(id: string, agentType?: string | null): Party;
  /** As the journal names them; `developer` is whom it belongs to, where that is known. */
  actor(actor: string, developer?: string | null): Party;
  /** By what stands in a message: an agent, the people or the server. */
  agent(id: string, actor: string | null): Party;
}

const nobodys = (name: string): Party => ({ name, agent_id: null });

export async function partiesFor(db: Db, principal: Principal, now: number, agentIds: readonly string[]): Promise<Parties> {
  const viewer = await agentViewer(db, principal, now);
  const agents = await agentsById(db, principal.workspace, [...new Set(agentIds)]);
  const actor: Parties['actor'] = (known, owner = null) => {
    const party = viewer.agent(known, ownerOf(known) ?? owner);
    return /^(?:agent|instance):/.test(known) ? party : nobodys(party.name);
  };
  return {
    developer: (id, agentType = null) => actor(agentType === null ? `developer:${id}` : `agent:${agentType}@${id}`),
    actor,
    agent: (id, by) => {
      if (id === HUMAN) return by === null ? nobodys('people') : actor(by);
      if (id === SERVER) return nobodys('the server');
      const row = agents.get(id);
      if (!row) return nobodys(id);
      return { name: viewer.view(row).name, agent_id: actor(row.actor, row.developer_id).agent_id };
    },
  };
}
