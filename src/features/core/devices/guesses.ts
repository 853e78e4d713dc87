import { Refusal } from '../../../kernel/reply.ts';
import { CODE_LASTS_MS } from './user-code.ts';

/** People mistype a code a few times. */
const MAX_WRONG = 20;
/** The caller whose last try is the oldest is forgotten first. */
const MAX_REMEMBERED = 1_000;

/**
 * Counts wrong codes by caller: codes are short, and a caller who finds one that is not theirs gets another
 * machine's agents to work in their name. Each process counts for itself, so that a few more are possible where several serve.
 */
export class Guesses {
  readonly #wrong = new Map<string, { since: number; count: number }>();

  /** Refuses a caller with too many wrong codes. Counts before the code is checked, because many may be tried at once. */
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

  /** For a code that was right, or could not be checked. */
  takeBack(who: string): void {
    const tried = this.#wrong.get(who);
    if (tried) this.#wrong.set(who, { ...tried, count: tried.count - 1 });
  }
}
