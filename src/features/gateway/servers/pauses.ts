export const FIRST_DELAY_MS = 500;
export const LONGEST_DELAY_MS = 60_000;
/** A server that was up this long has recovered: its next failure counts as the first. */
export const STEADY_MS = 60_000;

/** Doubles with every failure, up to the maximum. `random` (0…1) subtracts up to half, so that servers that failed together do not restart together. */
export function delayBefore(failures: number, random: number): number {
  const full = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures, 20), LONGEST_DELAY_MS);
  return Math.max(FIRST_DELAY_MS, Math.round(full * (1 - random / 2)));
}

/** Several changes within this time count as one. */
const GATHER_MS = 50;

/**
 * How long to wait before relisting a server that reports a change: twice as long as before, until it was quiet for a minute. Each
 * listing may write to the store.
 */
export const nextPause = (pauseMs: number, quietMs: number): number => (quietMs >= STEADY_MS ? GATHER_MS : Math.min(pauseMs * 2, STEADY_MS));
