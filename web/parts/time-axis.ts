interface Interval {
  readonly from: number;
  readonly until: number;
}

/** A part of the axis. If `idle` is true, no agent worked in this time. `start` and `end` are fractions of the width. */
export interface AxisStretch extends Interval {
  readonly idle: boolean;
  readonly folded: boolean;
  readonly start: number;
  readonly end: number;
}

/** Only gaps of at least this length are folded. */
const SHORTEST_GAP_MS = 5 * 60_000;
const GAP_SHARE = 0.1;
/** The width of a folded gap, as a fraction of the axis. */
const FOLDED_WIDTH = 0.04;
/** The maximum width of all folded gaps together. */
const MAX_FOLDED = 0.4;

/** Divides the time into stretches in which agents worked and stretches in which nobody worked. */
export function stretchesOf(work: readonly Interval[], fold: boolean): AxisStretch[] {
  const merged: { from: number; until: number }[] = [];
  for (const { from, until } of work.toSorted((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    if (last && from <= last.until) last.until = Math.max(last.until, until);
    else merged.push({ from, until });
  }
  const busy = merged.reduce((sum, { from, until }) => sum + until - from, 0);
  const long = Math.max(SHORTEST_GAP_MS, busy * GAP_SHARE);
  const parts: { from: number; until: number; idle: boolean }[] = [];
  for (const each of merged) {
    const last = parts.at(-1);
    if (last && each.from - last.until < long) last.until = each.until;
    else parts.push(...(last ? [{ from: last.until, until: each.from, idle: true }] : []), { ...each, idle: false });
  }
  return widths(parts, fold);
}

function widths(parts: readonly (Interval & { idle: boolean })[], fold: boolean): AxisStretch[] {
  const isFolded = ({ idle }: { idle: boolean }): boolean => idle && fold;
  const gaps = parts.filter(isFolded).length;
  const gap = gaps === 0 ? 0 : Math.min(FOLDED_WIDTH, MAX_FOLDED / gaps);
  const long = parts.filter((part) => !isFolded(part)).reduce((sum, { from, until }) => sum + Math.max(1, until - from), 0);
  let start = 0;
  return parts.map((part) => {
    const folded = isFolded(part);
    const end = start + (folded ? gap : ((1 - gaps * gap) * Math.max(1, part.until - part.from)) / long);
    const stretch = { ...part, folded, start, end };
    start = end;
    return stretch;
  });
}

/** Returns the position of a time on the axis as a number from 0 to 1. */
export function placeOf(stretches: readonly AxisStretch[], time: number): number {
  const at = stretches.find(({ until }) => time <= until) ?? stretches.at(-1);
  if (!at) return 0;
  const within = (time - at.from) / Math.max(1, at.until - at.from);
  return at.start + (at.end - at.start) * Math.min(1, Math.max(0, within));
}

/** The minimum distance between two marks. Closer marks would overlap on a small screen. */
const NEAREST = 0.14;

/** Returns times to mark on the axis. Their number is close to `about`, and they are spread evenly over the stretches that are not folded. */
export function ticksOf(stretches: readonly AxisStretch[], about: number): number[] {
  let last = Number.NEGATIVE_INFINITY;
  return stretches
    .filter(({ folded }) => !folded)
    .flatMap(({ from, until, start, end }) => {
      const count = Math.max(1, Math.round((end - start) * about));
      return Array.from({ length: count }, (_, at) => ({ time: from + ((until - from) * at) / count, place: start + ((end - start) * at) / count }));
    })
    .filter(({ place }) => {
      if (place - last < NEAREST || place > 1 - NEAREST / 2) return false;
      last = place;
      return true;
    })
    .map(({ time }) => time);
}

/** If the axis covers less time than this, the marks show seconds. Otherwise several marks would show the same minute. */
const SECONDS_BELOW_MS = 10 * 60_000;

/** The format of the marks. */
export function clockFor(ticks: readonly number[], timeZone: string | undefined): Intl.DateTimeFormat {
  const isShort = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0) < SECONDS_BELOW_MS;
  return new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(isShort && { second: '2-digit' }), timeZone });
}

/** Assigns each span the first free row. Spans beyond `maxRows` rows share the last row. */
export function rowsOf(spans: readonly Interval[], maxRows = Number.POSITIVE_INFINITY): number[] {
  const ends: number[] = [];
  return spans.map(({ from, until }) => {
    const free = ends.findIndex((end) => end <= from);
    const row = free < 0 ? Math.min(ends.length, maxRows - 1) : free;
    ends[row] = Math.max(ends[row] ?? until, until);
    return row;
  });
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Returns some full hours between the two times, evenly spaced. */
export function hoursBetween(from: number, to: number): number[] {
  const step = HOUR_MS * Math.max(1, Math.round((to - from) / HOUR_MS / 6));
  const first = Math.ceil(from / HOUR_MS) * HOUR_MS;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, index) => first + index * step);
}

/** Returns the format of a chart's time axis. If a bar stands for a day, the axis shows dates. Otherwise it shows times, in UTC if the person prefers that. */
export function axisWords(times: readonly number[], utc: boolean): (time: number) => string {
  const ofDays = (times[1] ?? 0) - (times[0] ?? 0) >= DAY_MS;
  const shape = ofDays ? ({ day: 'numeric', month: 'short' } as const) : ({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const);
  const clock = new Intl.DateTimeFormat(undefined, { ...shape, ...(utc && !ofDays && { timeZone: 'UTC' }) });
  return (time) => clock.format(time);
}
