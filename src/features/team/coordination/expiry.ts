import type { Services } from '../../../kernel/context.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import { expireClaim } from './lapse.ts';
import { lapsedClaims } from './store.ts';

/** A lease ends by the clock alone; this only tells of it. */
export const expirySweep = (services: Pick<Services, 'store' | 'clock' | 'log'>): Sweep =>
  dueSweep(services, { name: 'claims', everyMs: 15_000, atOnce: 500, find: lapsedClaims, settle: (tx, { id }) => expireClaim(tx, id, tx.now) });
