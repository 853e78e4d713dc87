import { ENGINE } from './store/database.ts';

const PROVE = process.env.COVENANT_PROVE === '1';
const SEED = 20_261_115;

/** How long a test of so many runs may take. One that is given up goes on in its worker, and what it does there fails others. */
export const patience = (ms: number): number => (PROVE ? 1_800_000 : ms);

/**
 * How often a property is tried. In `npm test` a few times, always the same ones; on PostgreSQL, where every statement is a round trip, a third of them.
 * In `npm run prove` many more, other ones each time: a failure names its seed, which COVENANT_SEED takes.
 */
export function runs(few: number): { numRuns: number; seed?: number } {
  const postgres = ENGINE === 'postgres';
  if (!PROVE) return { numRuns: Math.ceil(postgres ? few / 3 : few), seed: SEED };
  return { numRuns: few * (postgres ? 2 : 10), ...(process.env.COVENANT_SEED ? { seed: Number(process.env.COVENANT_SEED) } : {}) };
}
