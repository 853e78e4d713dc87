import { ENGINE } from './store/database.ts';

const PROVE = process.env.COVENANT_PROVE === '1';
const SEED = 20_261_115;

/** The time limit for a test with this many runs. A test that times out continues in its worker and would make others fail. */
export const patience = (ms: number): number => (PROVE ? 1_800_000 : ms);

/**
 * How often a property is tried. In `npm test` a few times with fixed seeds; on PostgreSQL, where every statement is a round trip, a third of them.
 * In `npm run prove` many more with random seeds: a failure names its seed for COVENANT_SEED.
 */
export function runs(few: number): { numRuns: number; seed?: number } {
  const postgres = ENGINE === 'postgres';
  if (!PROVE) return { numRuns: Math.ceil(postgres ? few / 3 : few), seed: SEED };
  return { numRuns: few * (postgres ? 2 : 10), ...(process.env.COVENANT_SEED ? { seed: Number(process.env.COVENANT_SEED) } : {}) };
}
