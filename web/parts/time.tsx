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
export const Time = ({ at }: { at: number }) => <Moment at={at} words={ago} />;

/** The same for what is to come: "in 12 m", and once it has, "now". */
export const Until = ({ at }: { at: number }) => <Moment at={at} words={until} />;

function Moment({ at, words }: { at: number; words: (at: number, now: number) => string }) {
  const text = useByClock((now) => words(at, now));
  const iso = new Date(at).toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {text}
    </time>
  );
}

function until(at: number, now: number): string {
  if (at <= now) return 'now';
  const left = span(at - now);
  return left === undefined ? dateOf(at) : `in ${left}`;
}

// The server's clock may be a little ahead of this machine's.
const ago = (at: number, now: number): string => span(Math.max(0, now - at)) ?? dateOf(at);

function span(length: number): string | undefined {
  if (length < MINUTE) return `${Math.floor(length / 1_000)} s`;
  if (length < HOUR) return `${Math.floor(length / MINUTE)} m`;
  return length < DAY ? `${Math.floor(length / HOUR)} h` : undefined;
}

/** "36 ms", "1.4 s". */
export const milliseconds = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);
