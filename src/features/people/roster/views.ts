import { beginning } from '../../../kernel/excerpt.ts';
import { type DayTally, totalCalls } from '../../core/events/index.ts';
import { PRIVATE, type Viewer } from '../../core/identity/index.ts';
import { readStrings } from '../../team/coordination/index.ts';
import { PLACES } from '../lookup/index.ts';
import type { AgentState, RosterAgent } from './contract.ts';
import type { ActorFacts, RosterFacts } from './gather.ts';
import { lastSeenOf, stateOf } from './state.ts';

const TITLE_SHOWN = 200;
const FIRST_HELD = 5;

export const shortened = (text: string): string => beginning(text, TITLE_SHOWN);

/** Builds one row for actors that the viewer cannot distinguish: usually a single actor, or all actors of private developers. */
export function rowOf(all: readonly ActorFacts[], { name, agent_id }: { name: string; agent_id: string | null }, day: DayTally, now: number): RosterAgent {
  const states = all.map((facts) => stateOf(facts, day, now));
  const [first] = all;
  const isOne = agent_id !== null && first !== undefined;
  const count = (of: (facts: ActorFacts) => readonly unknown[]) => all.reduce((sum, facts) => sum + of(facts).length, 0);
  const seen = all.flatMap((facts) => lastSeenOf(facts, day) ?? []);
  return {
    name,
    agent_id,
    state: mostTelling(states),
    doing: isOne ? doingOf(first) : null,
    holds: {
      tasks: count(({ tasks }) => tasks),
      steps: count(({ steps }) => steps),
      claims: count(({ claims }) => claims),
      locks: count(({ locks }) => locks),
      first: isOne ? heldBy(first).slice(0, FIRST_HELD) : [],
    },
    last_seen_at: seen.length > 0 ? Math.max(...seen) : null,
    refused_24h: all.reduce((sum, { actor }) => sum + totalCalls(day.actors.get(actor)?.minutes ?? new Map()).refused, 0),
    cost_24h: costOf(all.flatMap(({ costs }) => costs)),
    why_blocked: null,
    instance_id: isOne ? (first.instance?.id ?? null) : null,
    registered: isOne ? first.registered.map(({ id }) => id) : [],
  };
}

/** Returns the state of several actors that share one row: `working` if one of them works, and otherwise the first state in this list that occurs. */
const mostTelling = (states: readonly AgentState[]): AgentState =>
  (['working', 'waiting', 'blocked', 'lost', 'quiet', 'stale'] as const).find((state) => states.includes(state)) ?? 'ended';

const costOf = (costs: ActorFacts['costs']): RosterAgent['cost_24h'] => {
  if (costs.length === 0) return null;
  const sum = (of: (cost: ActorFacts['costs'][number]) => number) => costs.reduce((all, cost) => all + of(cost), 0);
  const priced = sum((cost) => cost.priced);
  return { usd: priced === 0 ? null : sum((cost) => cost.micros) / 1e6, unpriced: sum((cost) => cost.spans) - priced };
};

/** Returns the most specific activity of the actor that is known. */
function doingOf({ steps, tasks, activity, instance, sessions }: ActorFacts): RosterAgent['doing'] {
  const [step] = steps.toSorted((a, b) => (b.claimed_at ?? 0) - (a.claimed_at ?? 0));
  if (step) return { text: shortened(step.name), path: PLACES['workflow task'](step.id, step.workflow_id) };
  const task = tasks.find(({ status }) => status === 'active') ?? tasks[0];
  if (task) return { text: shortened(task.title), path: PLACES.task(task.id, '') };
  if (instance && instance.ended_at === null) return { text: shortened(instance.branch_name), path: PLACES.instance(instance.id, '') };
  const isOpen = sessions.some(({ ended_at }) => ended_at === null);
  return activity !== null && isOpen ? { text: shortened(activity), path: null } : null;
}

function heldBy({ steps, tasks, claims, locks }: ActorFacts): RosterAgent['holds']['first'] {
  return [
    ...steps.map(({ id, name, workflow_id }) => ({ kind: 'step' as const, id, title: shortened(name), path: PLACES['workflow task'](id, workflow_id) })),
    ...tasks.map(({ id, title }) => ({ kind: 'task' as const, id, title: shortened(title), path: PLACES.task(id, '') })),
    ...claims.map((claim) => ({ kind: 'claim' as const, id: claim.id, title: shortened(patternsOf(claim).join(', ')), path: PLACES.claim(claim.id, '') })),
    ...locks.map(({ id, feature, lock_role }) => ({ kind: 'lock' as const, id, title: shortened(`${lock_role} of ${feature}`), path: PLACES.cycle(id, '') })),
  ];
}

export const patternsOf = ({ paths, symbols }: { paths: string; symbols: string }): string[] => [...readStrings(paths), ...readStrings(symbols)];

/** Builds the rows for all actors. Actors that the viewer may not see share one row. */
export function rowsOf({ facts, day }: Pick<RosterFacts, 'facts' | 'day'>, viewer: Viewer, now: number): { row: RosterAgent; actor: string | null }[] {
  const hidden: ActorFacts[] = [];
  const rows: { row: RosterAgent; actor: string | null }[] = [];
  for (const each of facts.values()) {
    if (viewer.sees(each.developerId)) rows.push({ row: rowOf([each], viewer.agent(each.actor, each.developerId), day, now), actor: each.actor });
    else hidden.push(each);
  }
  if (hidden.length > 0) rows.push({ row: rowOf(hidden, { name: PRIVATE, agent_id: null }, day, now), actor: null });
  return rows;
}
