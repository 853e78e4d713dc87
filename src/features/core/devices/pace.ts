import { randomInt } from 'node:crypto';
import { Refusal } from '../../../kernel/errors.ts';
import type { DeviceGrantRow } from '../../../storage/schema-rows.ts';

/** No vowels, so that no word comes of it; no letter that is mistaken for another or for a digit. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/** The codes are read aloud and typed: eight letters, shown as `BQPX-FGQR`. */
export function newUserCode(draw: (letters: number) => number = randomInt): string {
  return Array.from({ length: LENGTH }, () => LETTERS[draw(LETTERS.length)]).join('');
}

export const shownCode = (code: string): string => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** However it was typed: small letters, spaces, another dash. */
export const typedCode = (text: string): string => text.toUpperCase().replace(/[^A-Z]/g, '');

export const isUserCode = (code: string): boolean => code.length === LENGTH && [...code].every((letter) => LETTERS.includes(letter));

export const CODE_LASTS_MS = 10 * 60_000;
export const FIRST_INTERVAL_SECONDS = 5;
const SLOWER_BY_SECONDS = 5;
const LONGEST_INTERVAL_SECONDS = 60;
/** Timers of other machines run a little fast. */
const GRACE_MS = 500;

/** Requests of one address that are remembered at a time; a machine asks once. */
export const MAX_FROM_ONE_SOURCE = 30;
/** Of all addresses together: they can be invented without end. */
export const MAX_AT_ONCE = 1_000;

type Polled = Pick<DeviceGrantRow, 'polled_at' | 'interval_seconds'>;

export const isTooSoon = ({ polled_at, interval_seconds }: Polled, now: number): boolean =>
  polled_at !== null && now - polled_at < interval_seconds * 1_000 - GRACE_MS;

/** A machine that asks too often has to wait longer from then on. */
export const slower = (interval: number): number => Math.min(interval + SLOWER_BY_SECONDS, LONGEST_INTERVAL_SECONDS);

export type DeviceRequestState = 'pending' | 'approved' | 'denied' | 'expired' | 'consumed';

/** What a request has come to: one that was answered too late was not answered. */
export function standingOf({ status, expires_at }: Pick<DeviceGrantRow, 'status' | 'expires_at'>, now: number): DeviceRequestState {
  const isOpen = status === 'pending' || status === 'approved';
  return isOpen && now > expires_at ? 'expired' : status;
}

/** Whoever reads a code from a screen mistypes it a few times. */
const MAX_WRONG = 20;
/** Who tried longest ago is forgotten first. */
const MAX_REMEMBERED = 1_000;

/**
 * Codes that no device shows, by who tried them: codes are short, and whoever finds one that is not theirs gets another
 * machine's agents to work in their name. Each process counts for itself, so that a few more are possible where several serve.
 */
export class Guesses {
  readonly #wrong = new Map<string, { since: number; count: number }>();

  /** Refuses whoever has tried too many. Else it counts until it is taken back: many may be tried at once. */
  count(who: string, now: number): void {
    const tried = this.#wrong.get(who);
    const left = tried ? Math.ceil((tried.since + CODE_LASTS_MS - now) / 1_000) : 0;
    if (tried && left > 0 && tried.count >= MAX_WRONG) {
      throw new Refusal('TOO_MANY_CODES', 'You have tried too many codes that no device shows.', `Try again in ${left} seconds.`, { retry_after: left });
    }
    this.#wrong.delete(who);
    this.#wrong.set(who, tried && left > 0 ? { ...tried, count: tried.count + 1 } : { since: now, count: 1 });
    for (const oldest of this.#wrong.keys()) if (this.#wrong.size > MAX_REMEMBERED) this.#wrong.delete(oldest);
  }

  /** It was right, or nobody knows. */
  takeBack(who: string): void {
    const tried = this.#wrong.get(who);
    if (tried) this.#wrong.set(who, { ...tried, count: tried.count - 1 });
  }
}
