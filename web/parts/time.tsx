import { useByClock } from '../live/clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DATE = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

export const dateOf = (at: number): string => DATE.format(at);

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
