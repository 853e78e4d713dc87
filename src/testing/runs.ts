import { ENGINE } from './store/database.ts';

const PROVE = process.env.COVENANT_PROVE === '1';
const SEED = 20_261_115;

/**
 * Returns the time limit of a test: `ms`, or half an hour in `npm run prove`. The limit is long there, because a test that has timed out still runs in its
 * worker and could make other tests fail.
 */
export const patience = (ms: number): number => (PROVE ? 1_800_000 : ms);

/**
 * Returns how often a property is tested. In `npm test` it is tested a few times with a fixed seed, and on PostgreSQL only a third as often, because every
 * statement there is a round trip. `npm run prove` makes many more runs with random seeds. A failure reports its seed, and COVENANT_SEED repeats the run.
 */
export function runs(few: number): { numRuns: number; seed?: number } {
  const postgres = ENGINE === 'postgres';
  if (!PROVE) return { numRuns: Math.ceil(postgres ? few / 3 : few), seed: SEED };
  return { numRuns: few * (postgres ? 2 : 10), ...(process.env.COVENANT_SEED ? { seed: Number(process.env.COVENANT_SEED) } : {}) };
}
