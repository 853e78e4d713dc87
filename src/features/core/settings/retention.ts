import type { RawBuilder, SqlBool } from 'kysely';
import type { Services } from '../../../kernel/call.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import type { Db } from '../../../storage/engine.ts';
import { deleteRows, findRows, matching } from '../../../storage/rows.ts';
import type { SettingKey } from './contract.ts';
import { valuesOf } from './store.ts';

const DAY_MS = 24 * 3_600_000;

export const RETENTION_KEY = 'retention.days' satisfies SettingKey;

const retentionMs = (days: number): number => days * DAY_MS;

/** Returns how long a workspace keeps finished data, in milliseconds. Null: forever. */
export async function keptMs(db: Db, workspace: string): Promise<number | null> {
  const days = (await valuesOf(db, workspace))(RETENTION_KEY);
  return days === null ? null : retentionMs(days);
}

const EVERY_MS = 3_600_000;
/** The number of rows deleted in one transaction. */
const BATCH_SIZE = 200;

/** A rule for rows that are deleted after the retention period of their workspace. */
export interface RetentionRule {
  /** Returns the ids of rows that finished before `before`, except rows that somebody still waits for, holds or works on. */
  over(db: Db, workspace: string, before: number, limit: number): Promise<string[]>;
  remove(db: Db, workspace: string, ids: readonly string[]): Promise<unknown>;
}

/** Deletes data after the retention period of its workspace. A workspace without this setting keeps everything. */
export function retentionSweep({ store, clock, log }: Pick<Services, 'store' | 'clock' | 'log'>, rules: readonly RetentionRule[]): Sweep {
  async function deleteOver({ over, remove }: RetentionRule, workspace: string, before: number): Promise<void> {
    // The search first runs outside of a transaction, so that a search without results does not block writers.
    for (let due = (await over(store.reader, workspace, before, 1)).length; due > 0; ) {
      const gone = await store.write(workspace, async (tx) => {
        const ids = await over(tx.db, workspace, before, BATCH_SIZE);
        if (ids.length > 0) await remove(tx.db, workspace, ids);
        return ids.length;
      });
      due = gone < BATCH_SIZE ? 0 : gone;
    }
  }

  return {
    name: 'retention',
    everyMs: EVERY_MS,
    async run() {
      for (const { workspace_id, value } of await findRows(store.reader, 'settings', { key: RETENTION_KEY })) {
        const before = clock.now() - retentionMs(Number(value));
        // A failure in one workspace must not stop the sweep of the others.
        for (const rule of rules) {
          await deleteOver(rule, workspace_id, before).catch((error: unknown) => log.error('retention failed', { workspace: workspace_id, error }));
        }
      }
    },
  };
}

type Table =
  | 'agent_sessions'
  | 'agent_spans'
  | 'agents'
  | 'announcements'
  | 'approvals'
  | 'asks'
  | 'claims'
  | 'handoffs'
  | 'overlap_warnings'
  | 'parallel_audits'
  | 'scope_verdicts'
  | 'session_contexts';

/**
 * Returns a rule for the rows of one table that ended before a given time. `along` deletes the rows of another table that belong
 * only to these rows.
 */
export const rowsOf = (table: Table, ended: (before: number) => RawBuilder<SqlBool>, along?: RetentionRule['remove']): RetentionRule => ({
  async over(db, workspace, before, limit) {
    const rows = await matching(db, table, { workspace_id: workspace }).select('id').where(ended(before)).limit(limit).execute();
    return rows.map(({ id }) => id);
  },
  async remove(db, workspace, ids) {
    await along?.(db, workspace, ids);
    await deleteRows(db, table, { workspace_id: workspace, id: ids });
  },
});
