import type { DayTally } from '../../core/events/index.ts';
import { LEASE_MS, statusAt } from '../../workflow/agents/index.ts';
import type { AgentState } from './contract.ts';
import type { ActorFacts } from './gather.ts';

/** Computes the state of an agent from facts and the clock. No state is stored. */
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

/** An agent that was seen within this time counts as working. The time equals the lease of a registered agent. */
const WORKING_MS = 90_000;
/** An agent that is silent for longer may have been abandoned. */
const STALE_MS = 30 * 60_000;
/** The call that ends a session or registration is itself a sign of life, and may be recorded a moment after the end. */
const SAME_MOMENT_MS = 5_000;

export interface StateFacts {
  /** When the agent last gave a sign of life. */
  readonly lastSeen: number | null;
  /** True if a question, a held call or a spent review of the agent waits for a person. */
  readonly waitsOnPerson: boolean;
  /** When the agent last lost its work, because a lease expired or its process ended. */
  readonly lostAt: number | null;
  /** When the agent's last session, registration or instance ended. Null while one of them is still open. */
  readonly endedAt: number | null;
  /** True if the agent's last call was refused. */
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
  // The use of a token counts as a sign of life only if there is no other sign, and if no companion uses the same token.
  const used = tokens.map(({ last_used_at, companion_version }) => (companion_version === null ? (last_used_at ?? 0) : 0));
  return Math.max(...seenAt) || Math.max(0, ...used) || null;
}

/** Returns when the agent's last session, registration or instance ended. Null while one of them continues, or if none is known to have ended. */
function endedAtOf({ tokens, sessions, registered, instance, steps, claims }: ActorFacts, now: number): number | null {
  const isOpen =
    steps.length + claims.length > 0 ||
    sessions.some(({ ended_at }) => ended_at === null) ||
    registered.some((agent) => statusAt(agent, now) !== 'offline') ||
    (instance !== undefined && instance.ended_at === null);
  const revoked = tokens.map(({ revoked_at }) => revoked_at);
  // If all tokens of an agent were revoked, the agent has ended.
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
