import type { House } from '../../../kernel/context.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import { noteLapse } from './lapse.ts';
import { lapsedClaims } from './store.ts';

const EVERY_MS = 15_000;
const AT_ONCE = 500;

/** A lease ends by the clock alone; this only tells of it. Read first: a server with nothing due writes nothing. */
export function expirySweep({ store, clock }: Pick<House, 'store' | 'clock'>): Sweep {
  return {
    name: 'claims',
    everyMs: EVERY_MS,
    async run() {
      for (;;) {
        const now = clock.now();
        const due = await lapsedClaims(store.reader, now, AT_ONCE);
        for (const [workspace, claims] of Map.groupBy(due, ({ workspace_id }) => workspace_id)) {
          await store.write(workspace, async (tx) => {
            for (const { id } of claims) await noteLapse(tx, id, now);
          });
        }
        if (due.length < AT_ONCE) return;
      }
    },
  };
}
