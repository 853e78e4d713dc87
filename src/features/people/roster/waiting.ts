import type { Principal } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { readApprovals } from '../../core/approvals/index.ts';
import { devicesToApprove } from '../../core/devices/index.ts';
import { type Viewer, viewerOf } from '../../core/identity/index.ts';
import { spentReviews } from '../../review/instances/index.ts';
import { asksTo, handoffsTo } from '../../team/coordination/index.ts';
import { recentWarnings, warningView } from '../../team/overlap/index.ts';
import { agentsById } from '../../workflow/agents/index.ts';
import { openQuestions } from '../../workflow/messages/index.ts';
import type { waitingList } from './contract.ts';

/** Functions of features that this feature must not import. */
export interface WaitingPorts {
  /** Returns the workspace's own servers that have definitions waiting for a decision, and the number of these definitions. */
  undecided(workspace: string): Promise<readonly { readonly server: string; readonly definitions: number }[]>;
}

type Waiting = Output<typeof waitingList>;
type WaitingItem = Waiting['items'][number];

/** The maximum number of items per kind. More are not needed, because people settle the first items of a list first. */
const MAX_ITEMS = 200;
/** The maximum number of devices. It is lower, because a device can ask without a token and must not displace the other items. */
const MAX_DEVICES = 50;
const TEXT_SHOWN = 500;

/** Lists all items that wait for the caller, in the order in which to settle them. */
export async function listWaiting(db: Db, principal: Principal, ports: WaitingPorts, now: number): Promise<Waiting> {
  const viewer = await viewerOf(db, principal);
  const found = [await questions(db, principal, viewer, now), await reviews(db, principal)];
  if (principal.operator) found.push(await heldCalls(db, principal, now), await devices(db, principal, now), await definitions(principal, ports));
  if (principal.developerId !== null) {
    const own = { workspace: principal.workspace, developerId: principal.developerId, viewer };
    found.push(await asks(db, own, now), await handoffs(db, own), await overlaps(db, own));
  }
  return { items: inOrder(found.flatMap(({ items }) => items)), cut: found.some(({ cut }) => cut) };
}

/** Sorts the items. Those with a deadline come first, nearest deadline first, followed by the items that have waited longest. */
const inOrder = (items: readonly WaitingItem[]): WaitingItem[] =>
  items.toSorted(
    (a, b) =>
      (a.deadline ?? Number.MAX_SAFE_INTEGER) - (b.deadline ?? Number.MAX_SAFE_INTEGER) ||
      (a.since ?? Number.MAX_SAFE_INTEGER) - (b.since ?? Number.MAX_SAFE_INTEGER) ||
      (a.id < b.id ? -1 : 1),
  );

/** If there are more items than `limit`, `rows` contains one row more than `limit`. */
const listed = <R>(rows: readonly R[], item: (row: R) => WaitingItem, limit = MAX_ITEMS): Waiting => ({
  items: rows.slice(0, limit).map(item),
  cut: rows.length > limit,
});

/** Returns the end of an id, which commands accept instead of the whole id. */
const tail = (id: string): string => id.slice(-6);
const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Lists open questions. A question names only the registered agent, but people need to know whose agent it is. */
async function questions(db: Db, principal: Principal, viewer: Viewer, now: number): Promise<Waiting> {
  const open = await openQuestions(db, principal.workspace, principal, now, MAX_ITEMS);
  const agents = await agentsById(db, principal.workspace, [...new Set(open.map(({ agent_id }) => agent_id))]);
  return listed(open, ({ question_id, agent_id, agent_name, subject, question, asked_at, expires_at, priority }) => {
    const agent = agents.get(agent_id);
    return {
      kind: 'question',
      id: question_id,
      who: agent ? viewer.agent(agent.actor, agent.developer_id).name : (agent_name ?? agent_id),
      sentence: subject ? `${subject}${/[.?!:…]$/.test(subject) ? '' : ':'} ${question}` : question,
      since: asked_at,
      deadline: expires_at,
      pressing: priority === 'urgent' || priority === 'high',
      command: `covenant messages answer ${tail(question_id)}`,
    };
  });
}

async function heldCalls(db: Db, principal: Principal, now: number): Promise<Waiting> {
  const calls = await readApprovals(db, principal, 'waiting', now, MAX_ITEMS + 1);
  return listed(calls, ({ approval_id, developer, agent, noun, name, requested_at, deadline_at }) => ({
    kind: 'call',
    id: approval_id,
    who: developer === null ? 'the operator' : agent === null ? developer : `${agent}@${developer}`,
    sentence: `wants to call the ${noun} ${name}`,
    since: requested_at,
    deadline: deadline_at,
    pressing: true,
    command: `covenant approvals approve ${tail(approval_id)}`,
  }));
}

async function devices(db: Db, principal: Principal, now: number): Promise<Waiting> {
  const asking = await devicesToApprove(db, principal.workspace, now, MAX_DEVICES + 1);
  const item = ({ user_code, machine_name, agents, asked_at, expires_at }: (typeof asking)[number]): WaitingItem => ({
    kind: 'device',
    id: user_code,
    who: machine_name,
    sentence: `asks for tokens for ${agents.join(', ')}`,
    since: asked_at,
    deadline: expires_at,
    pressing: true,
    command: `covenant devices approve ${user_code} --developer NAME`,
  });
  return listed(asking, item, MAX_DEVICES);
}

async function definitions(principal: Principal, { undecided }: WaitingPorts): Promise<Waiting> {
  return listed(await undecided(principal.workspace), ({ server, definitions }) => ({
    kind: 'definition',
    id: `server:${server}`,
    who: server,
    sentence: `${counted(definitions, 'definition')} withheld until somebody approves the changes`,
    since: null,
    deadline: null,
    pressing: false,
    command: `covenant servers approve ${server}`,
  }));
}

async function reviews(db: Db, principal: Principal): Promise<Waiting> {
  const { items, cut } = await spentReviews(db, principal, MAX_ITEMS);
  const spent = items.map(
    ({ id, reviews, max_reviews, last_activity }): WaitingItem => ({
      kind: 'review',
      id,
      who: id,
      sentence: `has used ${reviews} of ${counted(max_reviews, 'review')}`,
      since: last_activity,
      deadline: null,
      pressing: false,
      command: `covenant instances allow ${id}`,
    }),
  );
  return { items: spent, cut };
}

/** The developer whose items are listed, and what this developer may see of other people. */
interface Own {
  readonly workspace: string;
  readonly developerId: string;
  readonly viewer: Viewer;
}

/** Lists asks that are addressed to the person, not to one of their agents. */
async function asks(db: Db, { workspace, developerId, viewer }: Own, now: number): Promise<Waiting> {
  const open = await asksTo(db, workspace, developerId, null, now, MAX_ITEMS + 1);
  return listed(open, ({ id, from_actor, from_developer_id, message, created_at, due_at }) => ({
    kind: 'ask',
    id,
    who: viewer.agent(from_actor, from_developer_id).name,
    sentence: beginning(message, TEXT_SHOWN),
    since: created_at,
    deadline: due_at,
    pressing: false,
    command: `covenant messages answer ${tail(id)}`,
  }));
}

async function handoffs(db: Db, { workspace, developerId, viewer }: Own): Promise<Waiting> {
  const offered = await handoffsTo(db, workspace, developerId, null, MAX_ITEMS + 1);
  return listed(offered, ({ id, from_developer_id, message, created_at }) => ({
    kind: 'handoff',
    id,
    who: viewer.name(from_developer_id),
    sentence: beginning(message, TEXT_SHOWN),
    since: created_at,
    deadline: null,
    pressing: false,
    command: `covenant messages show ${id}`,
  }));
}

async function overlaps(db: Db, { workspace, developerId, viewer }: Own): Promise<Waiting> {
  const open = await recentWarnings(db, workspace, { open: true, level: 'escalated', developer_id: developerId, limit: MAX_ITEMS + 1 });
  return listed(open, (row) => {
    const { warning_id, title, matches, created_at } = warningView(row, viewer.name);
    const [match] = matches;
    return {
      kind: 'overlap',
      id: warning_id,
      who: null,
      sentence: match ? `“${title}” looks like “${match.title}” by ${match.owner}` : `“${title}” looks like other work`,
      since: created_at,
      deadline: null,
      pressing: false,
      command: `covenant overlap dismiss ${tail(warning_id)} --reason WHY`,
    };
  });
}
