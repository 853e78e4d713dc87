import { ROUNDS } from './effort.ts';

export interface Rate {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export const rounded = (value: number): number => Math.round(value * 100) / 100;

/**
 * Runs all measurements one after another, and repeats this for several rounds, so that other load on the machine affects all of them alike. Returns the
 * results of all rounds for each measurement.
 */
export async function inTurns<T>(works: readonly (() => Promise<T>)[], rounds = ROUNDS): Promise<T[][]> {
  const all: T[][] = works.map(() => []);
  for (let round = 0; round < rounds; round++) for (const [index, work] of works.entries()) all[index]?.push(await work());
  return all;
}

export const middle = <T>(rounds: readonly T[], by: (round: T) => number): T =>
  rounds.toSorted((one, other) => by(one) - by(other))[Math.floor(rounds.length / 2)] as T;

/** Runs measurements of rates in turns. Returns the median round of each measurement. */
export const ratesInTurns = async (works: readonly (() => Promise<Rate>)[], rounds = ROUNDS): Promise<Rate[]> =>
  (await inTurns(works, rounds)).map((rates) => middle(rates, ({ perSecond }) => perSecond));

/** Runs measurements of single figures in turns. Returns the median of each measurement. */
export const mediansInTurns = async (works: readonly (() => Promise<number>)[], rounds = ROUNDS): Promise<number[]> =>
  (await inTurns(works, rounds)).map((values) => middle(values, (value) => value));

/** Lets several workers make calls for a given time. Each worker makes one call after another. */
export async function rateOf(call: (worker: number) => Promise<unknown>, workers: number, seconds: number): Promise<Rate> {
  const times: number[] = [];
  const started = performance.now();
  const until = started + seconds * 1000;
  const work = async (worker: number) => {
    do {
      const begun = performance.now();
      await call(worker);
      times.push(performance.now() - begun);
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return { perSecond: Math.round((times.length * 1000) / (performance.now() - started)), ...quantiles(times) };
}

export const quantile = (times: readonly number[], share: number): number => {
  const sorted = times.toSorted((one, other) => one - other);
  return rounded(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number);
};

export const quantiles = (times: readonly number[]): { p50: number; p99: number } => ({ p50: quantile(times, 0.5), p99: quantile(times, 0.99) });
