interface Placed {
  readonly from: number;
  readonly to: number | null;
}

/** More lines than these would make a lane taller than the others together: what is beyond shares the last. */
export const MAX_LINES = 6;

/** The line each bar stands on, so that none covers another: the first that is free. Bars come in the order of their beginnings. */
export function linesOf(bars: readonly Placed[], now: number): number[] {
  const ends: number[] = [];
  return bars.map(({ from, to }) => {
    const free = ends.findIndex((end) => end <= from);
    const line = free < 0 ? Math.min(ends.length, MAX_LINES - 1) : free;
    ends[line] = Math.max(ends[line] ?? 0, to ?? now);
    return line;
  });
}

const HOUR_MS = 3_600_000;

/** Full hours within, so many hours apart that there are a few. */
export function hoursBetween(from: number, to: number): number[] {
  const step = HOUR_MS * Math.max(1, Math.round((to - from) / HOUR_MS / 6));
  const first = Math.ceil(from / HOUR_MS) * HOUR_MS;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, index) => first + index * step);
}
