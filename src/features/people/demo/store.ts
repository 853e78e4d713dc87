import { sql } from 'kysely';
import type { Db } from '../../../storage/engine.ts';
import { eventsAbout } from '../../../storage/journal.ts';
import type { DemoState } from './contract.ts';

/** What tells that there was something: the journal goes with no demo, and a workspace without a name could not be read. */
const KEPT = new Set(['events', 'journal_heads', 'journal_anchors', 'workspaces']);

/** Every row of the workspace, in whatever table there is: one that is added later is emptied too. */
export async function removeRows(db: Db, workspace: string): Promise<number> {
  const tables = await db.introspection.getTables();
  // A database may have other programs' tables too, in schemas of their own.
  const ours = new Set(tables.filter(({ name }) => name === 'journal_heads').map(({ schema }) => schema));
  const owned = tables.filter(
    ({ name, schema, isView, columns }) => !KEPT.has(name) && !isView && ours.has(schema) && columns.some((column) => column.name === 'workspace_id'),
  );
  let removed = 0;
  for (const { name } of owned) {
    const { numAffectedRows } = await sql`delete from ${sql.table(name)} where workspace_id = ${workspace}`.execute(db);
    removed += Number(numAffectedRows ?? 0);
  }
  return removed;
}

/** By the last word of the journal on it. */
export async function demoState(db: Db, workspace: string): Promise<DemoState> {
  const last = await eventsAbout(db, workspace, [SUBJECT]).select('kind').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return (last?.kind.replace('demo.', '') as DemoState | undefined) ?? 'none';
}

/** Whether somebody is there besides a demo. */
export async function hasPeople(db: Db, workspace: string): Promise<boolean> {
  return (await db.selectFrom('developers').select('id').where('workspace_id', '=', workspace).limit(1).executeTakeFirst()) !== undefined;
}

export const SUBJECT = 'demo';
