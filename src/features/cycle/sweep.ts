import type { Services } from '../../kernel/call.ts';
import type { Sweep } from '../../kernel/sweep.ts';
import { deleteEverywhere } from '../../storage/rows.ts';
import type { Mirror } from './mirror.ts';
import { FAILURES_COUNT_MS } from './open-session.ts';
import { repositoriesBehind } from './store.ts';

const EVERY_MS = 10_000;
const BATCH_SIZE = 100;
/** Expired sessions stay in the list for this long. */
export const SESSIONS_KEPT_MS = 7 * 24 * 3_600_000;

/** Writes the files that calls could not write. Also deletes sessions that expired long ago, and failures that no longer count. */
export function createCycleSweep({ store, clock }: Pick<Services, 'store' | 'clock'>, mirror: Mirror): Sweep {
  // Repositories whose files cannot be written are found again in each run. Each run therefore continues after the last repository of the run
  // before, so that all repositories get their turn.
  let after = '';

  return {
    name: 'cycles',
    everyMs: EVERY_MS,
    async run() {
      const behind = await repositoriesBehind(store.reader, BATCH_SIZE, after);
      after = behind.length === BATCH_SIZE ? (behind.at(-1) ?? '') : '';
      for (const repository of behind) await mirror.sync(repository);
      await deleteEverywhere(store, 'role_sessions', { expires_at: { '<': clock.now() - SESSIONS_KEPT_MS } });
      await deleteEverywhere(store, 'psk_failures', { last_at: { '<': clock.now() - FAILURES_COUNT_MS } });
    },
  };
}
