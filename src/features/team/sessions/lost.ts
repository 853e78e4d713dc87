import type { Services } from '../../../kernel/context.ts';
import type { Sweep } from '../../../kernel/sweep.ts';

const EVERY_MS = 3_600_000;
/** An agent that was not heard of for a week does not come back; until then its session is stale, for people to look at. */
const LOST_AFTER_MS = 7 * 24 * 3_600_000;
const BATCH_SIZE = 200;

/** Ends what nobody will end, or the state of the team would warn of it for ever. Its claims ran out long ago. */
export function endingLost({ store, clock }: Pick<Services, 'store' | 'clock' | 'log'>): Sweep {
  const lost = (before: number) =>
    store.reader.selectFrom('agent_sessions').select(['workspace_id', 'id']).where('ended_at', 'is', null).where('last_seen_at', '<', before);
  return {
    name: 'sessions',
    everyMs: EVERY_MS,
    async run() {
      const before = clock.now() - LOST_AFTER_MS;
      for (;;) {
        const due = await lost(before).limit(BATCH_SIZE).execute();
        for (const [workspace, sessions] of Map.groupBy(due, ({ workspace_id }) => workspace_id)) {
          await store.write(workspace, async (tx) => {
            for (const { id } of sessions) {
              const ended = await tx.db
                .updateTable('agent_sessions')
                .set({ ended_at: tx.now })
                .where('workspace_id', '=', workspace)
                .where('id', '=', id)
                .where('ended_at', 'is', null)
                .where('last_seen_at', '<', before)
                .executeTakeFirst();
              if (ended.numUpdatedRows === 0n) continue;
              tx.append({ category: 'work', kind: 'session.ended', actor: 'server', subject: id, session: id, payload: { automatic: true } });
            }
          });
        }
        if (due.length < BATCH_SIZE) return;
      }
    },
  };
}
