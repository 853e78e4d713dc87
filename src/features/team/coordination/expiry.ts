import type { House } from '../../../kernel/context.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import { noteLapse } from './lapse.ts';
import { lapsedClaims } from './store.ts';

/** A lease ends by the clock alone; this only tells of it. */
export const expirySweep = (house: Pick<House, 'store' | 'clock' | 'log'>): Sweep =>
  dueSweep(house, { name: 'claims', everyMs: 15_000, atOnce: 500, find: lapsedClaims, settle: (tx, { id }) => noteLapse(tx, id, tx.now) });
