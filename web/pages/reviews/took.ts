const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** "40 s", "12 m", "3 h 5 m". */
export function tookFrom(start: number, end: number): string {
  const ms = Math.max(0, end - start);
  if (ms < MINUTE) return `${Math.round(ms / 1_000)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m`;
  return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} m`;
}
