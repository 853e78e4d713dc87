const DAY_MS = 86_400_000;

/** How the marks of a chart's time axis are written: days where a bar stands for one, else times of the day, as the rest of the page writes them. */
export function axisWords(times: readonly number[], utc: boolean): (time: number) => string {
  const ofDays = (times[1] ?? 0) - (times[0] ?? 0) >= DAY_MS;
  const shape = ofDays ? ({ day: 'numeric', month: 'short' } as const) : ({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const);
  const clock = new Intl.DateTimeFormat(undefined, { ...shape, ...(utc && !ofDays && { timeZone: 'UTC' }) });
  return (time) => clock.format(time);
}
