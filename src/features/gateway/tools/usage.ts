import { type DayTally, total } from '../../core/events/index.ts';

interface DayOfTool {
  readonly calls_24h: number;
  /** Denied, blocked or failed. */
  readonly errors_24h: number;
  /** Of the latest calls; null where there was none. */
  readonly p95_ms: number | null;
}

/** How these tools were used in the last day, taken together. */
export function usedInDay(day: DayTally, tools: readonly string[]): DayOfTool {
  const found = tools.flatMap((tool) => day.tools.get(`tool:${tool}`) ?? []);
  const counts = found.map(({ minutes }) => total(minutes));
  return {
    calls_24h: counts.reduce((sum, { calls }) => sum + calls, 0),
    errors_24h: counts.reduce((sum, { refused }) => sum + refused, 0),
    p95_ms: percentile(
      found.flatMap(({ durations }) => durations),
      0.95,
    ),
  };
}

/** The smallest value that at least so much of all is not above. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}
