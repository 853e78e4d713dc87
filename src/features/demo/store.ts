import { sql } from 'kysely';
import type { Db } from '../../storage/engine.ts';

/** What tells that there was something: the journal is never cut, and a workspace without a name could not be read. */
const KEPT = new Set(['events', 'journal_heads', 'workspaces']);

/** Every row of the workspace, in whatever table there is: one that is added later is emptied too. */
export async function removeRows(db: Db, workspace: string): Promise<number> {
  const tables = await db.introspection.getTables();
  const owned = tables.filter(({ name, columns }) => !KEPT.has(name) && columns.some((column) => column.name === 'workspace_id'));
  let removed = 0;
  for (const { name } of owned) {
    const { numAffectedRows } = await sql`delete from ${sql.table(name)} where workspace_id = ${workspace}`.execute(db);
    removed += Number(numAffectedRows ?? 0);
  }
  return removed;
}

export type DemoState = 'none' | 'begun' | 'kept' | 'ended';

/** By the last word of the journal on it. */
export async function demoState(db: Db, workspace: string): Promise<DemoState> {
  const last = await db
    .selectFrom('events')
    .select('kind')
    .where('workspace_id', '=', workspace)
    .where('subject', '=', SUBJECT)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return (last?.kind.replace('demo.', '') as DemoState | undefined) ?? 'none';
}

export const SUBJECT = 'demo';
