import type { House } from '../../kernel/context.ts';
import type { Sweep } from '../../kernel/sweep.ts';
import { type Mirror, repositoriesBehind } from './mirror.ts';
import { FORGOTTEN_AFTER_MS } from './slowing.ts';

const EVERY_MS = 10_000;
const AT_ONCE = 100;
/** An ended session is shown for a week. */
const KEPT_MS = 7 * 24 * 3_600_000;

/** Files that a call did not live to write, sessions that are long over, failures that no longer count. */
export function cycleSweep({ store, clock }: Pick<House, 'store' | 'clock'>, mirror: Mirror): Sweep {
  // Repositories whose files cannot be written stay behind: those that come after them must have their turn all the same.
  let after = '';
  return {
    name: 'cycles',
    everyMs: EVERY_MS,
    async run() {
      const behind = await repositoriesBehind(store.reader, AT_ONCE, after);
      after = behind.length === AT_ONCE ? (behind.at(-1) ?? '') : '';
      for (const repository of behind) await mirror.sync(repository);
      const over = clock.now() - KEPT_MS;
      const forgotten = clock.now() - FORGOTTEN_AFTER_MS;
      for (const { workspace_id } of await store.reader
        .selectFrom('role_sessions')
        .select('workspace_id')
        .distinct()
        .where('expires_at', '<', over)
        .execute()) {
        await store.write(workspace_id, async (tx) => {
          await tx.db.deleteFrom('role_sessions').where('workspace_id', '=', workspace_id).where('expires_at', '<', over).execute();
        });
      }
      for (const { workspace_id } of await store.reader
        .selectFrom('psk_failures')
        .select('workspace_id')
        .distinct()
        .where('last_at', '<', forgotten)
        .execute()) {
        await store.write(workspace_id, async (tx) => {
          await tx.db.deleteFrom('psk_failures').where('workspace_id', '=', workspace_id).where('last_at', '<', forgotten).execute();
        });
      }
    },
  };
}
