import type { AgentState } from './contract.ts';

/** Heard of within this time, it is at work: the lease of a registered agent. */
const WORKING_MS = 90_000;
/** Not heard of for longer, it may have been left behind. */
const STALE_MS = 30 * 60_000;
/** The call that ends something is itself heard, and noted a moment later. */
const SAME_MOMENT_MS = 5_000;

export interface StateFacts {
  /** When anything was last heard of it. */
  readonly lastSeen: number | null;
  /** An open question, a held call or a spent review of its waits for a person. */
  readonly waitsOnPerson: boolean;
  /** When it last lost what it held: a lease ran out, or its process was gone. */
  readonly lostAt: number | null;
  /** When the last of what it ran as has ended, where none is left. */
  readonly endedAt: number | null;
  /** What it called last was refused. */
  readonly lastRefused: boolean;
}

/** From facts alone, and by the clock: no label of it is stored. */
export function stateOf({ lastSeen, waitsOnPerson, lostAt, endedAt, lastRefused }: StateFacts, now: number): AgentState {
  if (waitsOnPerson) return 'waiting';
  const heardSince = (moment: number): boolean => lastSeen !== null && lastSeen > moment + SAME_MOMENT_MS;
  if (endedAt !== null && !heardSince(endedAt) && endedAt >= (lostAt ?? 0)) return 'ended';
  if (lostAt !== null && !(lastSeen !== null && lastSeen > lostAt)) return 'lost';
  if (lastRefused) return 'blocked';
  const silence = lastSeen === null ? Number.POSITIVE_INFINITY : now - lastSeen;
  if (silence <= WORKING_MS) return 'working';
  return silence <= STALE_MS ? 'quiet' : 'stale';
}
