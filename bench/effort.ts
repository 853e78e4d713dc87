/** Determines how much is measured. `--quick` only checks that all benchmarks run. The figures of a quick run mean nothing. */
export const QUICK = process.argv.includes('--quick');

const numbers = (name: string, usual: readonly number[], quick: readonly number[]): readonly number[] =>
  process.env[name]?.split(',').map(Number) ?? (QUICK ? quick : usual);
const number = (name: string, usual: number, quick: number): number => numbers(name, [usual], [quick])[0] as number;

/** Seconds that one load takes in one round. */
export const SECONDS = number('BENCH_SECONDS', 3, 1);
export const ROUNDS = QUICK ? 1 : 3;
/** How many process starts are timed. */
export const STARTS = QUICK ? 2 : 21;
/** `BENCH_TASKS=1000,10000,100000` for a longer run. */
export const TASKS = numbers('BENCH_TASKS', [1_000, 10_000], [200]);
export const CALLS = number('BENCH_CALLS', 200, 10);
/** `BENCH_ITEMS=1000000` for a large run. */
export const ITEMS = numbers('BENCH_ITEMS', [1_000, 10_000, 100_000], [200]);
export const CHECKS = number('BENCH_CHECKS', 300, 10);
export const EVENTS = number('BENCH_EVENTS', 100_000, 2_000);
/** If there is an embedder: how many pull requests of each kind are embedded. The number is small, because one text takes tens of milliseconds. */
export const EMBEDDED = number('BENCH_EMBED_SAMPLE', 100, 4);
