import type { House } from '../../kernel/context.ts';
import type { Sweep } from '../../kernel/sweep.ts';
import { RECENT_MS } from './candidates.ts';
import type { Finder } from './finder.ts';
import { forgetItems } from './items.ts';

const EVERY_MS = 3_600_000;
const BATCH = 200;
/** A check serves for ten minutes; it is kept longer for whoever asks why a start was blocked. */
const CHECKS_KEPT_MS = 7 * 24 * 3_600_000;

/** Work that was finished long ago leaves the index, and old checks go. Several servers may do it at once. */
export const forgetting = ({ store, clock }: House, finder: Finder): Sweep => ({
  name: 'overlap',
  everyMs: EVERY_MS,
  async run() {
    const closedBefore = clock.now() - RECENT_MS;
    for (const { workspace_id: workspace } of await store.reader.selectFrom('overlap_state').select('workspace_id').execute()) {
      finder.forget(workspace, closedBefore);
      const due = await store.reader
        .selectFrom('overlap_items')
        .select('id')
        .where('workspace_id', '=', workspace)
        .where('closed_at', '<', closedBefore)
        .limit(1)
        .execute();
      for (let gone = due.length; gone > 0; ) gone = await store.write(workspace, (tx) => forgetItems(tx, closedBefore, BATCH));
      const old = clock.now() - CHECKS_KEPT_MS;
      const checks = await store.reader
        .selectFrom('preflight_checks')
        .select('id')
        .where('workspace_id', '=', workspace)
        .where('created_at', '<', old)
        .limit(1)
        .execute();
      if (checks.length > 0) {
        await store.write(workspace, async (tx) => {
          await tx.db.deleteFrom('preflight_checks').where('workspace_id', '=', workspace).where('created_at', '<', old).execute();
        });
      }
    }
  },
});
