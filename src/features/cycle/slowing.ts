/** So many wrong PSKs in a row cost nothing: people mistype. */
const FREE = 5;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** After such a while without one they are forgotten. */
export const FORGOTTEN_AFTER_MS = 3_600_000;

interface Failures {
  readonly failures: number;
  readonly last_at: number;
}

/** How many failures still count. */
export const counted = (row: Failures | undefined, now: number): number => (row && now - row.last_at < FORGOTTEN_AFTER_MS ? row.failures : 0);

/** How long the next attempt must still wait: a second after the fifth failure, and twice as long after each further one. */
export function waitAfter(row: Failures | undefined, now: number): number {
  const count = counted(row, now);
  if (!row || count < FREE) return 0;
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - FREE));
  return Math.max(0, row.last_at + wait - now);
}
