import type { ServerState } from './listing.ts';

export const FIRST_DELAY_MS = 500;
export const LONGEST_DELAY_MS = 60_000;
/** Who has been up this long has recovered: its next fall is a first one. */
export const STEADY_MS = 60_000;
/** How many calls in a row may be left without an answer before the server is started anew. */
export const MAX_STRIKES = 3;

/** Doubles with every failure, up to the longest. `random` (0…1) takes off up to a half, so that servers that fell together do not rise together. */
export function delayBefore(failures: number, random: number): number {
  const full = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures, 20), LONGEST_DELAY_MS);
  return Math.max(FIRST_DELAY_MS, Math.round(full * (1 - random / 2)));
}

export type Move = 'begin' | 'wait' | 'connected' | 'failed' | 'stop';

/** What may follow what. A move that is not in the table comes too late to matter. */
export const NEXT: Readonly<Record<ServerState, Partial<Readonly<Record<Move, ServerState>>>>> = {
  disabled: {},
  stopped: { begin: 'starting', wait: 'idle', stop: 'stopped' },
  idle: { begin: 'starting', stop: 'stopped' },
  starting: { begin: 'starting', connected: 'up', failed: 'down', stop: 'stopped' },
  up: { failed: 'down', begin: 'starting', stop: 'stopped' },
  down: { begin: 'starting', stop: 'stopped' },
};
