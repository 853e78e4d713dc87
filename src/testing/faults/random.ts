import { hash } from 'node:crypto';

/** True if all faults are tested, instead of the short selection in a normal test run. */
export const FULL = process.env.COVENANT_PROVE === '1';

const EVERY_RUN = 10_1701;

/** The seed of this run. To repeat a failed run, set `COVENANT_SEED` to its seed. */
export const SEED = Number(process.env.COVENANT_SEED ?? (FULL ? crypto.getRandomValues(new Uint32Array(1))[0] : EVERY_RUN));

const FULL_MS = 60_000;

/** Yields at least this many rounds. In the full set, it yields as many as a minute allows. */
export function* rounds(least: number): Generator<number> {
  const end = performance.now() + (FULL ? FULL_MS : 0);
  for (let round = 0; round < least || performance.now() < end; round++) yield round;
}

/** The time limit of one test. */
export const TIMEOUT_MS = FULL ? 1_800_000 : 120_000;

/** Generates random numbers. The same seed and label always give the same numbers. */
export class Random {
  #state: number;

  constructor(seed: number, label = '') {
    this.#state = Number.parseInt(hash('sha256', `${seed}/${label}`).slice(0, 8), 16);
  }

  /** Returns an integer from 0 up to, but not including, `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  pick<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T;
  }

  chance(of: number): boolean {
    return this.below(1_000) < of * 1_000;
  }
}
