import { useByClock } from '../live/clock.ts';
import { preferences } from '../preferences.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SHAPE = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const LOCAL = new Intl.DateTimeFormat(undefined, SHAPE);
const UTC = new Intl.DateTimeFormat(undefined, { ...SHAPE, timeZone: 'UTC', timeZoneName: 'short' });

export const dateOf = (at: number): string => (preferences().utc ? UTC : LOCAL).format(at);

/** "8 s", "12 m", "3 h", then the local date. */
export function Time({ at }: { at: number }) {
  const text = useByClock((now) => ago(at, now));
  const iso = new Date(at).toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {text}
    </time>
  );
}

function ago(at: number, now: number): string {
  // The server's clock may be a little ahead of this machine's.
  const age = Math.max(0, now - at);
  if (age < MINUTE) return `${Math.floor(age / 1_000)} s`;
  if (age < HOUR) return `${Math.floor(age / MINUTE)} m`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h`;
  return dateOf(at);
}
