import type { House } from '../../../kernel/context.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import { lapse } from './decide.ts';
import { deleteStaleRounds, overdueApprovals, workspacesWithStaleRounds } from './store.ts';

const EVERY_MS = 5_000;
const AT_ONCE = 100;

/** What nobody decided on, or nobody used, in time; and rounds that nobody can go on with. Of all workspaces. */
export function approvalSweep({ store, clock }: Pick<House, 'store' | 'clock'>): Sweep {
  return {
    name: 'approvals',
    everyMs: EVERY_MS,
    async run() {
      for (const workspace of await workspacesWithStaleRounds(store.reader, clock.now())) {
        await store.write(workspace, (tx) => deleteStaleRounds(tx.db, tx.workspace, tx.now));
      }
      for (;;) {
        const due = await overdueApprovals(store.reader, clock.now(), AT_ONCE);
        for (const [workspace, approvals] of Map.groupBy(due, ({ workspace_id }) => workspace_id)) {
          await store.write(workspace, async (tx) => {
            for (const { id } of approvals) await lapse(tx, id);
          });
        }
        if (due.length < AT_ONCE) return;
      }
    },
  };
}
