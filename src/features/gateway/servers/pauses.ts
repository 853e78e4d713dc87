export const FIRST_DELAY_MS = 500;
export const LONGEST_DELAY_MS = 60_000;
/** A server that was up for this long counts as recovered. Its next failure is then treated as the first. */
export const STEADY_MS = 60_000;

/**
 * The delay before the next start. It doubles with every failure, up to a maximum. `random` (0…1) subtracts up to half of it, so that servers that
 * failed at the same time do not restart at the same time.
 */
export function delayBefore(failures: number, random: number): number {
  const full = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures, 20), LONGEST_DELAY_MS);
  return Math.max(FIRST_DELAY_MS, Math.round(full * (1 - random / 2)));
}

/** Changes that come within this time are handled together, with one listing. */
const GATHER_MS = 50;

/**
 * How long to wait before a server that reports a change is listed again. The pause doubles with each report of changes, because each listing may write to the store. After a minute without reports, the time is short again.
 */
export const nextPause = (pauseMs: number, quietMs: number): number => (quietMs >= STEADY_MS ? GATHER_MS : Math.min(pauseMs * 2, STEADY_MS));
