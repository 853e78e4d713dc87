import type { House } from '../../kernel/context.ts';
import type { Sweep } from '../../kernel/sweep.ts';
import { unmarkFiles } from '../overlap/index.ts';
import { claimDetails } from './claims.ts';
import { lapsedClaims, noteExpiry } from './store.ts';

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
            for (const { id } of claims) {
              const row = await noteExpiry(tx.db, workspace, id, now);
              if (!row) continue;
              await unmarkFiles(tx, 'claim', id);
              const payload = { ...claimDetails(row), expired_at: row.expires_at };
              tx.append({ category: 'work', kind: 'claim.expired', actor: row.actor, subject: id, session: row.session_id, payload });
            }
          });
        }
        if (due.length < AT_ONCE) return;
      }
    },
  };
}
