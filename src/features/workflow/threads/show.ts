import type { CallContext } from '../../../kernel/context.ts';
import type { Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { readStrings } from '../../team/coordination/index.ts';
import { bodyText, firstOf, lastOf, type MessageRow } from '../messages/index.ts';
import type { Entry, showThread } from './contract.ts';
import { courseOf, type Found } from './found.ts';
import { threadOf } from './named.ts';
import { type Parties, partiesFor } from './parties.ts';
import { remindersOf } from './reminders.ts';
import { remindableFrom } from './standing.ts';
import { endsOf, mayBeReminded, mayReadIn, threadViews } from './view.ts';

const MOST_ENTRIES = 100;
const MOST_RECIPIENTS = 200;
const LONGEST_TEXT = 20_000;

type Shown = Output<typeof showThread>;
type Listed = Pick<Shown, 'entries' | 'entries_cut' | 'recipients'>;

export async function readThread({ reader, principal, clock }: CallContext, id: string): Promise<Shown> {
  const now = clock.now();
  const found = await threadOf(reader, principal, id);
  const course = courseOf(found);
  const [thread] = await threadViews(reader, principal, now, [found]);
  if (!thread) throw new Error(`the thread ${id} has no view`);
  const said = found.of === 'messages' ? await inMessages(reader, found, course.recipients) : { last: [], first: [] };
  const ends = [...said.last, ...said.first].flatMap(({ sender_id, recipient_id }) => [sender_id, recipient_id]);
  const parties = await partiesFor(reader, principal, now, ends);
  const reminders = await remindersOf(reader, principal.workspace, found.row.id);
  const listed = found.of === 'messages' ? mailOf(said, thread.replies, parties, (row) => mayReadIn(found, row, principal)) : wordsOf(found, parties);
  const reminded: Entry[] = reminders.map(({ seq, actor, time }) => ({
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
    remindable_from: mayBeReminded(found, course, now) ? remindableFrom(course.sent_at, reminders[0]?.time ?? null) : null,
  };
}

interface Mail {
  readonly last: readonly MessageRow[];
  /** Of a broadcast. */
  readonly first: readonly MessageRow[];
}

async function inMessages(db: CallContext['reader'], { row }: Extract<Found, { of: 'messages' }>, recipients: number): Promise<Mail> {
  const workspace = row.workspace_id;
  const first = recipients > 1 ? await firstOf(db, workspace, row.thread_id, MOST_RECIPIENTS) : [];
  return { first, last: await lastOf(db, workspace, row.thread_id, MOST_ENTRIES) };
}

/** A broadcast is said once, to however many. */
function mailOf({ last, first }: Mail, replies: number, parties: Parties, isReadable: (row: MessageRow) => boolean): Listed {
  const said = first.length > 0 ? [...first.slice(0, 1), ...last.filter(({ reply_to_id }) => reply_to_id !== null)] : last;
  const entries = said.map(
    (row): Entry => ({
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

function wordsOf(found: Exclude<Found, { of: 'messages' }>, parties: Parties): Listed {
  const { from, to } = endsOf(found, parties);
  const { id, message, created_at: at } = found.row;
  const receipts = found.of === 'asks' ? { delivered_at: found.row.delivered_at, read_at: found.row.read_at } : { delivered_at: null, read_at: null };
  const entries: Entry[] = [{ id, what: 'message', from, to, text: message, at, ...receipts }];
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

function aboutOf(found: Found): Shown['about'] {
  if (found.of === 'messages') {
    const { repository, workflow_id, task_id } = found.row;
    return { ...NOTHING, repo: repository, workflow_id, workflow_task_id: task_id };
  }
  if (found.of !== 'handoffs') return { ...NOTHING, repo: found.row.repo, paths: readStrings(found.row.paths) };
  const { repo, branch, context_id, task_ids, claim_ids } = found.row;
  return { ...NOTHING, repo, branch, context_id, task_ids: readStrings(task_ids), claim_ids: readStrings(claim_ids) };
}
