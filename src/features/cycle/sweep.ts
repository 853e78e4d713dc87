import type { Services } from '../../kernel/context.ts';
import type { Sweep } from '../../kernel/sweep.ts';
import { type Mirror, repositoriesBehind } from './mirror.ts';
import { FORGOTTEN_AFTER_MS } from './slowing.ts';

const EVERY_MS = 10_000;
const BATCH_SIZE = 100;
/** An ended session is shown for a week. */
export const SESSIONS_KEPT_MS = 7 * 24 * 3_600_000;

/** Files that a call did not live to write, sessions that are long over, failures that no longer count. */
export function cycleSweep({ store, clock }: Pick<Services, 'store' | 'clock' | 'log'>, mirror: Mirror): Sweep {
  // Repositories whose files cannot be written stay behind: those that come after them must have their turn all the same.
  let after = '';

  async function prune(table: 'role_sessions' | 'psk_failures', column: 'expires_at' | 'last_at', before: number): Promise<void> {
    const { ref } = store.reader.dynamic;
    const old = await store.reader.selectFrom(table).select('workspace_id').distinct().where(ref(column), '<', before).execute();
    for (const { workspace_id } of old) {
      await store.write(workspace_id, async (tx) => {
        await tx.db.deleteFrom(table).where('workspace_id', '=', workspace_id).where(ref(column), '<', before).execute();
      });
    }
  }

  return {
    name: 'cycles',
    everyMs: EVERY_MS,
    async run() {
      const behind = await repositoriesBehind(store.reader, BATCH_SIZE, after);
      after = behind.length === BATCH_SIZE ? (behind.at(-1) ?? '') : '';
      for (const repository of behind) await mirror.sync(repository);
      await prune('role_sessions', 'expires_at', clock.now() - SESSIONS_KEPT_MS);
      await prune('psk_failures', 'last_at', clock.now() - FORGOTTEN_AFTER_MS);
    },
  };
}
