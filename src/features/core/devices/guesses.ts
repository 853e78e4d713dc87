import { Refusal } from '../../../kernel/reply.ts';
import { CODE_LASTS_MS } from './user-code.ts';

/** The maximum number of wrong codes per caller, which is more than people mistype. */
const MAX_WRONG = 20;
/** The maximum number of callers to remember. The least recently active caller is dropped first. */
const MAX_REMEMBERED = 1_000;

/**
 * Counts wrong codes by caller. Codes are short, and a caller who guesses the code of another machine could make that machine's
 * agents work in the caller's name. Each process counts on its own, so several servers allow a few more attempts.
 */
export class Guesses {
  readonly #wrong = new Map<string, { since: number; count: number }>();

  /**
   * Counts an attempt, and refuses a caller with too many wrong codes. The attempt is counted before the code is checked, because
   * a caller may try several codes in parallel.
   */
  count(who: string, now: number): void {
    const tried = this.#wrong.get(who);
    const left = tried ? Math.ceil((tried.since + CODE_LASTS_MS - now) / 1_000) : 0;
    if (tried && left > 0 && tried.count >= MAX_WRONG) {
      throw new Refusal('TOO_MANY_CODES', 'You entered too many wrong device codes.', `Repeat the call with the right code in ${left} seconds.`, {
        retry_after: left,
      });
    }
    this.#wrong.delete(who);
    this.#wrong.set(who, tried && left > 0 ? { ...tried, count: tried.count + 1 } : { since: now, count: 1 });
    for (const oldest of this.#wrong.keys()) if (this.#wrong.size > MAX_REMEMBERED) this.#wrong.delete(oldest);
  }

  /** Removes the last attempt from the count. Used if the code was right or could not be checked. */
  takeBack(who: string): void {
    const tried = this.#wrong.get(who);
    if (tried) this.#wrong.set(who, { ...tried, count: tried.count - 1 });
  }
}
