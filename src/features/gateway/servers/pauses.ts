export const FIRST_DELAY_MS = 500;
export const LONGEST_DELAY_MS = 60_000;
/** A server that has been up this long has recovered: its next failure counts as the first. */
export const STEADY_MS = 60_000;

/** Doubles with every failure, up to the longest. `random` (0…1) takes off up to a half, so that servers that fell together do not rise together. */
export function delayBefore(failures: number, random: number): number {
  const full = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures, 20), LONGEST_DELAY_MS);
  return Math.max(FIRST_DELAY_MS, Math.round(full * (1 - random / 2)));
}

/** Several changes at once are one. */
const GATHER_MS = 50;

/**
 * How long to wait before the catalogue of a server that reports a change is listed again: twice as long as before, until it has reported
 * none for a minute. Each listing may write to the store.
 */
export const nextPause = (pauseMs: number, quietMs: number): number => (quietMs >= STEADY_MS ? GATHER_MS : Math.min(pauseMs * 2, STEADY_MS));
