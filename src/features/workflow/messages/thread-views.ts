import { ownerOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/call.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import { isAddressedTo } from '../../team/coordination/index.ts';
import { agentsById, agentViewer } from '../agents/index.ts';
import { HUMAN, type Party, SERVER, type ThreadView } from './contract.ts';
import { type DeliveryState, isUnanswered, statusOf, stepsOf } from './delivery.ts';
import { bodyText } from './message.ts';
import { findMessages } from './store.ts';
import { deliveryOf, type FoundThread, kindOf, repositoryOf } from './thread-finding.ts';

const SUBJECT_SHOWN = 200;

type Letter = Pick<MessageRow, 'sender_id' | 'recipient_id'>;

/**
 * People see that other developers' agents exchange messages and whether the messages arrived, but cannot read the text. Everybody can read messages
 * from people and to people. Messages between agents in the same thread stay hidden.
 */
export const mayReadIn = (found: FoundThread, { sender_id, recipient_id }: Letter, viewer: Principal): boolean =>
  found.of !== 'messages' || viewer.operator || found.takesPart || sender_id === HUMAN || recipient_id === HUMAN;

/**
 * Returns the id of the message whose text represents the thread in a list. This is the first message. If the viewer may not read it, this is the open
 * question.
 */
const listedMessage = (found: FoundThread, viewer: Principal): string | null =>
  found.of !== 'messages' || mayReadIn(found, found.row, viewer) ? found.row.id : found.facts.open_question;

/** Returns the text for a list if no message body has to be read for it. Bodies are read separately, because they may be long. */
function knownWords(found: FoundThread, viewer: Principal): string | undefined {
  if (found.of !== 'messages') return found.row.message;
  return listedMessage(found, viewer) === found.row.id ? (found.row.subject ?? undefined) : undefined;
}

/** The operator may answer any ask. Everybody else may answer only asks that were sent to them. */
export function mayAnswer(found: FoundThread, viewer: Principal): boolean {
  if (found.of === 'asks') return viewer.kind === 'operator' || isAddressedTo(found.row, viewer);
  return kindOf(found) === 'question';
}

export const mayBeReminded = (found: FoundThread, delivery: DeliveryState, now: number): boolean =>
  isUnanswered(delivery, now) && (found.of === 'asks' || found.of === 'messages') && delivery.recipients === 1;

export async function threadViews(db: Db, viewer: Principal, now: number, all: readonly FoundThread[]): Promise<ThreadView[]> {
  const ends = all.flatMap(({ of, row }) => (of === 'messages' ? [row.sender_id, row.recipient_id] : []));
  const parties = await partiesFor(db, viewer, now, ends);
  const ids = all.flatMap((found) => (knownWords(found, viewer) === undefined ? (listedMessage(found, viewer) ?? []) : []));
  const words = await wordsOf(db, viewer.workspace, ids);
  return all.map((found) => {
    const delivery = deliveryOf(found);
    const unanswered = isUnanswered(delivery, now);
    return {
      id: found.row.id,
      kind: kindOf(found),
      type: found.of === 'messages' ? found.row.message_type : null,
      ...endsOf(found, parties),
      recipients: delivery.recipients,
      subject: subjectOf(knownWords(found, viewer) ?? words.get(listedMessage(found, viewer) ?? '')),
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

export function endsOf(found: FoundThread, parties: Parties): { from: Party; to: Party } {
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
  // Cleans up only the part that is shown, because a text may have a quarter of a million characters.
  return beginning(
    words
      .slice(0, SUBJECT_SHOWN * 4)
      .replace(/\s+/g, ' ')
      .trim(),
    SUBJECT_SHOWN,
  );
}

/** Returns the names of senders and recipients. Names that the viewer may not see are hidden. */
export interface Parties {
  developer(id: string, agentType?: string | null): Party;
  /** Returns the party with this actor name in the journal. `developer` is the owner, if the owner is known. */
  actor(actor: string, developer?: string | null): Party;
  /** Returns the party with this id in a message. The id stands for an agent, the people or the server. */
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
