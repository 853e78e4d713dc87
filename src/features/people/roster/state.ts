import type { DayTally } from '../../core/events/index.ts';
import { LEASE_MS, statusAt } from '../../workflow/agents/index.ts';
import type { AgentState } from './contract.ts';
import type { ActorFacts } from './gather.ts';

/** Computed from facts and the clock; no state is stored. */
export const stateOf = (facts: ActorFacts, day: DayTally, now: number): AgentState =>
  stateBy(
    {
      lastSeen: lastSeenOf(facts, day),
      waitsOnPerson: facts.waitsOnPerson,
      lostAt: facts.lostAt,
      endedAt: endedAtOf(facts, now),
      lastRefused: day.actors.get(facts.actor)?.lastCall?.refused ?? false,
    },
    now,
  );

/** An agent seen within this time is working: the lease of a registered agent. */
const WORKING_MS = 90_000;
/** An agent that is silent for longer may have been abandoned. */
const STALE_MS = 30 * 60_000;
/** The call that ends something is itself a sign of life, recorded a moment later. */
const SAME_MOMENT_MS = 5_000;

export interface StateFacts {
  /** When it last gave a sign of life. */
  readonly lastSeen: number | null;
  /** One of its questions, held calls or spent reviews waits for a person. */
  readonly waitsOnPerson: boolean;
  /** When it last lost what it held: a lease expired, or its process ended. */
  readonly lostAt: number | null;
  /** When its last session, registration or instance ended, if none is left. */
  readonly endedAt: number | null;
  /** Its last call was refused. */
  readonly lastRefused: boolean;
}

export function stateBy({ lastSeen, waitsOnPerson, lostAt, endedAt, lastRefused }: StateFacts, now: number): AgentState {
  if (waitsOnPerson) return 'waiting';
  const heardSince = (moment: number): boolean => lastSeen !== null && lastSeen > moment + SAME_MOMENT_MS;
  if (endedAt !== null && !heardSince(endedAt) && endedAt >= (lostAt ?? 0)) return 'ended';
  if (lostAt !== null && !(lastSeen !== null && lastSeen > lostAt)) return 'lost';
  if (lastRefused) return 'blocked';
  const silence = lastSeen === null ? Number.POSITIVE_INFINITY : now - lastSeen;
  if (silence <= WORKING_MS) return 'working';
  return silence <= STALE_MS ? 'quiet' : 'stale';
}

export function lastSeenOf({ tokens, sessions, registered, instance, actor }: ActorFacts, day: DayTally): number | null {
  const seenAt = [
    ...sessions.map(({ last_seen_at }) => last_seen_at),
    ...registered.map(({ last_seen_at }) => last_seen_at),
    instance?.last_activity ?? 0,
    day.actors.get(actor)?.lastCall?.time ?? 0,
  ];
  // A token is a sign of life only if there is no other, and if no companion uses the same one.
  const used = tokens.map(({ last_used_at, companion_version }) => (companion_version === null ? (last_used_at ?? 0) : 0));
  return Math.max(...seenAt) || Math.max(0, ...used) || null;
}

/** When its last session, registration or instance ended. Null while one of them continues, or if none is known to have ended. */
function endedAtOf({ tokens, sessions, registered, instance, steps, claims }: ActorFacts, now: number): number | null {
  const isOpen =
    steps.length + claims.length > 0 ||
    sessions.some(({ ended_at }) => ended_at === null) ||
    registered.some((agent) => statusAt(agent, now) !== 'offline') ||
    (instance !== undefined && instance.ended_at === null);
  const revoked = tokens.map(({ revoked_at }) => revoked_at);
  // An agent whose tokens were all revoked has ended.
  const allRevoked = revoked.length > 0 && revoked.every((at) => at !== null);
  if (isOpen && !allRevoked) return null;
  const left = registered.flatMap(({ updated_at, last_seen_at }) => (updated_at - last_seen_at < LEASE_MS ? [updated_at] : []));
  const ends = [
    ...sessions.flatMap(({ ended_at }) => ended_at ?? []),
    ...left,
    ...(instance?.ended_at ? [instance.ended_at] : []),
    ...(allRevoked ? (revoked as number[]) : []),
  ];
  return ends.length > 0 ? Math.max(...ends) : null;
}
