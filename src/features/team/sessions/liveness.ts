/** A session that was not heard of for longer than this may have been left behind. */
export const STALE_AFTER_MS = 30 * 60_000;

export const SESSION_STATES = ['active', 'stale', 'ended'] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export function sessionState(session: { last_seen_at: number; ended_at: number | null }, now: number): SessionState {
  if (session.ended_at !== null) return 'ended';
  return now - session.last_seen_at > STALE_AFTER_MS ? 'stale' : 'active';
}
