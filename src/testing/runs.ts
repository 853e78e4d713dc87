import { ENGINE } from './store/database.ts';

const PROVE = process.env.COVENANT_PROVE === '1';
const SEED = 20_261_115;

/** The time limit of a test: `ms`, or half an hour in `npm run prove`. A test that times out continues in its worker and would make other tests fail. */
export const patience = (ms: number): number => (PROVE ? 1_800_000 : ms);

/**
 * How often a property is tried. `npm test` tries it a few times with a fixed seed. On PostgreSQL, where every statement is a round trip, it makes a third
 * of these runs. `npm run prove` makes many more runs with random seeds. A failure names its seed, and COVENANT_SEED repeats it.
 */
export function runs(few: number): { numRuns: number; seed?: number } {
  const postgres = ENGINE === 'postgres';
  if (!PROVE) return { numRuns: Math.ceil(postgres ? few / 3 : few), seed: SEED };
  return { numRuns: few * (postgres ? 2 : 10), ...(process.env.COVENANT_SEED ? { seed: Number(process.env.COVENANT_SEED) } : {}) };
}
