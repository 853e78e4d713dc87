import type { House } from '../../../kernel/context.ts';
import type { Sweep } from '../../../kernel/sweep.ts';

const EVERY_MS = 3_600_000;
/** A run that was not heard of for a week does not come back; of one that has ended nothing is needed. */
export const RUNS_KEPT_MS = 7 * 24 * 3_600_000;

export function forgettingRuns({ store, clock }: Pick<House, 'store' | 'clock'>): Sweep {
  return {
    name: 'hooks',
    everyMs: EVERY_MS,
    async run() {
      const before = clock.now() - RUNS_KEPT_MS;
      const old = await store.reader.selectFrom('client_runs').select('workspace_id').distinct().where('last_seen_at', '<', before).execute();
      for (const { workspace_id } of old) {
        await store.write(workspace_id, async (tx) => {
          await tx.db.deleteFrom('client_runs').where('workspace_id', '=', workspace_id).where('last_seen_at', '<', before).execute();
        });
      }
    },
  };
}
