import { actorOfToken, agentIdOf, ownerOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import { rowsById } from '../../../storage/rows.ts';
import type { AgentSessionRow } from '../../../storage/schema-rows.ts';
import type { DayTally, Tally } from '../../core/events/index.ts';
import { instanceViewer } from '../../review/instances/index.ts';
import { lastActivities } from '../../team/sessions/index.ts';
import { type AgentRow, agentsById, isSilent, LEASE_MS } from '../../workflow/agents/index.ts';
import type { Happening, Happenings } from './happenings.ts';
import { spansIn, type WorkSpan } from './spans.ts';
import {
  actorsAwaitingApproval,
  agentsAsking,
  agentTokens,
  type CostSum,
  claimsLive,
  costsSince,
  instancesSince,
  locksHeld,
  type RosterToken,
  registeredAgents,
  sessionsSince,
  stepsHeld,
  tasksAtWork,
  tokensById,
} from './store.ts';

const DAY_MS = 24 * 3_600_000;
const SESSION_MS = 7 * DAY_MS;

type Rows<F extends (...args: never[]) => Promise<unknown[]>> = Awaited<ReturnType<F>>;
type HeldStep = Rows<typeof stepsHeld>[number];
type HeldTask = Rows<typeof tasksAtWork>[number];
type HeldClaim = Rows<typeof claimsLive>[number];
type HeldLock = Rows<typeof locksHeld>[number];
type Instance = Rows<typeof instancesSince>[number];

/** All facts about one actor. */
export interface ActorFacts {
  readonly actor: string;
  developerId: string | null;
  readonly tokens: RosterToken[];
  readonly sessions: AgentSessionRow[];
  readonly registered: AgentRow[];
  readonly steps: HeldStep[];
  readonly tasks: HeldTask[];
  readonly claims: HeldClaim[];
  readonly locks: HeldLock[];
  readonly spans: WorkSpan[];
  readonly costs: CostSum[];
  instance: Instance | undefined;
  /** The text of the actor's last activity report. */
  activity: string | null;
  waitsOnPerson: boolean;
  lostAt: number | null;
}

export interface RosterFacts {
  readonly facts: ReadonlyMap<string, ActorFacts>;
  readonly day: DayTally;
  readonly events: readonly Happening[];
  /** The actor of each registered agent, by agent id, including agents that left long ago. */
  readonly agentActor: ReadonlyMap<string, string>;
}

interface Sources {
  readonly tally: Tally;
  readonly happenings: Happenings;
}

/** Collects all current and recent actors, and the work that each of them holds. Each query returns a limited number of rows. */
export async function gatherRoster(db: Db, viewer: Principal, sources: Sources, now: number): Promise<RosterFacts> {
  const { workspace } = viewer;
  const rows = {
    tokens: await agentTokens(db, workspace),
    registered: await registeredAgents(db, workspace),
    steps: await stepsHeld(db, workspace),
    tasks: await tasksAtWork(db, workspace),
    claims: await claimsLive(db, workspace, now),
    locks: await locksHeld(db, workspace, now),
    costs: await costsSince(db, workspace, now - DAY_MS),
    awaiting: await actorsAwaitingApproval(db, workspace, now),
    asking: await agentsAsking(db, workspace, now),
  };
  const facts = new Map<string, ActorFacts>();
  const factsOf = (actor: string): ActorFacts => facts.get(actor) ?? addFacts(facts, actor);
  await addSessions(db, workspace, now, factsOf);
  await addInstances(db, viewer, now, factsOf);
  // The journal is read after the tables. So work that is lost between the two reads appears twice instead of not at all.
  const day = await sources.tally.read(db, workspace, now);
  const events = await sources.happenings.read(db, workspace, now);
  const spans = spansIn(events, now - DAY_MS);
  const agentActor = await actorsOfAgents(db, workspace, rows.registered, spans);

  for (const token of rows.tokens) {
    const actor = token.last_used_at === null ? undefined : actorOfToken(token);
    if (actor) factsOf(actor).tokens.push(token);
  }
  for (const agent of rows.registered) factsOf(agent.actor).registered.push(agent);
  for (const step of rows.steps) {
    const actor = agentActor.get(step.assigned_agent_id as string);
    if (actor) factsOf(actor).steps.push(step);
  }
  for (const task of rows.tasks) factsOf(task.actor).tasks.push(task);
  for (const claim of rows.claims) factsOf(claim.actor).claims.push(claim);
  for (const lock of rows.locks) factsOf(lock.actor).locks.push(lock);
  for (const cost of rows.costs) {
    const actor = cost.agent_type === null ? `developer:${cost.developer_id}` : `agent:${cost.agent_type}@${cost.developer_id}`;
    facts.get(actor)?.costs.push(cost);
  }
  for (const actor of rows.awaiting) markWaiting(facts.get(actor));
  for (const agentId of rows.asking) markWaiting(facts.get(agentActor.get(agentId) ?? ''));
  for (const span of spans) facts.get(actorOfSpan(span, agentActor) ?? '')?.spans.push(span);
  for (const { kind, actor, time } of events) {
    const holder = kind === 'claim.expired' ? facts.get(actor) : undefined;
    if (holder) holder.lostAt = Math.max(holder.lostAt ?? 0, time);
  }
  for (const each of facts.values()) noteLosses(each, now);
  await addOwners(db, workspace, facts);
  return { facts, day, events, agentActor };
}

export const actorOfSpan = ({ holder }: WorkSpan, agentActor: ReadonlyMap<string, string>): string | undefined =>
  'actor' in holder ? holder.actor : agentActor.get(holder.agentId);

function addFacts(facts: Map<string, ActorFacts>, actor: string): ActorFacts {
  const created: ActorFacts = {
    actor,
    developerId: ownerOf(actor),
    tokens: [],
    sessions: [],
    registered: [],
    steps: [],
    tasks: [],
    claims: [],
    locks: [],
    spans: [],
    costs: [],
    instance: undefined,
    activity: null,
    waitsOnPerson: false,
    lostAt: null,
  };
  facts.set(actor, created);
  return created;
}

const markWaiting = (facts: ActorFacts | undefined): void => {
  if (facts) facts.waitsOnPerson = true;
};

async function actorsOfAgents(db: Db, workspace: string, known: readonly AgentRow[], spans: readonly WorkSpan[]): Promise<Map<string, string>> {
  const actors = new Map(known.map(({ id, actor }) => [id, actor]));
  const others = spans.flatMap(({ holder }) => ('agentId' in holder && !actors.has(holder.agentId) ? [holder.agentId] : []));
  for (const [id, { actor }] of await agentsById(db, workspace, [...new Set(others)].slice(0, 400))) actors.set(id, actor);
  return actors;
}

async function addSessions(db: Db, workspace: string, now: number, factsOf: (actor: string) => ActorFacts): Promise<void> {
  const sessions = await sessionsSince(db, workspace, now - SESSION_MS);
  const tokenIds = sessions.map(({ token_id }) => token_id);
  const tokens = await tokensById(db, workspace, tokenIds);
  const newest = new Map<string, AgentSessionRow>();
  for (const session of sessions) {
    const token = tokens.get(session.token_id);
    const actor = token && actorOfToken(token);
    if (!actor) continue;
    factsOf(actor).sessions.push(session);
    if (!newest.has(actor)) newest.set(actor, session);
  }
  const newestIds = [...newest.values()].map(({ id }) => id);
  const lines = await lastActivities(db, workspace, newestIds);
  for (const [actor, { id }] of newest) factsOf(actor).activity = lines.get(id) ?? null;
}

/** Adds the instances. An instance without remaining reviews waits for a person. */
async function addInstances(db: Db, viewer: Principal, now: number, factsOf: (actor: string) => ActorFacts): Promise<void> {
  const rows = await instancesSince(db, viewer.workspace, now - DAY_MS);
  const { view } = await instanceViewer(db, viewer, rows);
  for (const row of rows) {
    const facts = factsOf(`instance:${row.id}`);
    facts.instance = row;
    facts.developerId = row.developer_id;
    if (view(row).at_limit) facts.waitsOnPerson = true;
  }
}

/** Adds the owners of instances that ended long ago but still hold something, because an owner may be private. */
async function addOwners(db: Db, workspace: string, facts: ReadonlyMap<string, ActorFacts>): Promise<void> {
  const unowned = [...facts.values()].filter(({ actor, developerId }) => developerId === null && actor.startsWith('instance:'));
  const ids = unowned.map(({ actor }) => agentIdOf(actor));
  const owners = await rowsById(db, 'instances', workspace, ids, ['developer_id']);
  for (const each of unowned) each.developerId = owners.get(agentIdOf(each.actor))?.developer_id ?? null;
}

/** Sets the time at which the actor last lost work. It considers losses in the journal, and expired leases that the sweep has not recorded yet. */
function noteLosses(facts: ActorFacts, now: number): void {
  const ends = facts.spans.flatMap(({ end, to }) => (end === 'lost' && to !== null ? [to] : []));
  const holding = new Set(facts.steps.map(({ assigned_agent_id }) => assigned_agent_id));
  for (const agent of facts.registered) if (holding.has(agent.id) && isSilent(agent, now)) ends.push(agent.last_seen_at + LEASE_MS);
  if (ends.length > 0) facts.lostAt = Math.max(facts.lostAt ?? 0, ...ends);
}
