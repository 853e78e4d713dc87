import type { Services } from '../../../kernel/call.ts';
import { inEachWorkspace, type Sweep } from '../../../kernel/sweep.ts';
import { changeRows, deleteRows, hasRow } from '../../../storage/rows.ts';
import { RECENT_MS } from './detect.ts';
import type { Finder } from './finder.ts';
import { forgetItems } from './store.ts';

const EVERY_MS = 3_600_000;
const BATCH = 200;
/** A check is valid for only ten minutes, but it is stored for this long to explain why a start was blocked. */
export const CHECKS_KEPT_MS = 7 * 24 * 3_600_000;
/** Warnings that stay unresolved for this long are dismissed. */
const WARNINGS_OPEN_MS = RECENT_MS;

/** Removes old finished work from the index, deletes old checks and dismisses old warnings. Several servers may run this sweep at the same time. */
export function overlapExpirySweep({ store, clock, log }: Services, finder: Finder): Sweep {
  async function forgetWork(workspace: string, before: number): Promise<void> {
    finder.forget(workspace, before);
    const old = { workspace_id: workspace, closed_at: { '<': before } };
    for (let due = Number(await hasRow(store.reader, 'overlap_items', old)); due > 0; )
      due = await store.write(workspace, (tx) => forgetItems(tx, before, BATCH));
  }

  async function forgetChecks(workspace: string, before: number): Promise<void> {
    const old = { workspace_id: workspace, created_at: { '<': before } };
    if (await hasRow(store.reader, 'preflight_checks', old)) await store.write(workspace, ({ db }) => deleteRows(db, 'preflight_checks', old));
  }

  async function closeWarnings(workspace: string, before: number): Promise<void> {
    const open = { workspace_id: workspace, resolved_at: null, created_at: { '<': before } };
    if (!(await hasRow(store.reader, 'overlap_warnings', open))) return;
    await store.write(workspace, async (tx) => {
      const reason = 'Not resolved within two weeks.';
      const warnings = await changeRows(tx.db, 'overlap_warnings', open, { status: 'dismissed', reason, resolved_at: tx.now });
      const payload = { automatic: true, reason, warnings };
      if (warnings > 0) tx.append({ category: 'work', kind: 'warning.dismissed', actor: 'server', payload });
    });
  }

  return {
    name: 'overlap',
    everyMs: EVERY_MS,
    async run() {
      const now = clock.now();
      const rows = await store.reader.selectFrom('overlap_state').select('workspace_id').execute();
      const workspaces = rows.map(({ workspace_id }) => workspace_id);
      await inEachWorkspace(log, 'overlap', workspaces, async (workspace) => {
        await forgetWork(workspace, now - RECENT_MS);
        await forgetChecks(workspace, now - CHECKS_KEPT_MS);
        await closeWarnings(workspace, now - WARNINGS_OPEN_MS);
      });
    },
  };
}
