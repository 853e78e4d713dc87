import type { Db } from '../../../storage/engine.ts';
import type { SessionContextRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';

export async function insertContext(db: Db, context: SessionContextRow): Promise<void> {
  await db.insertInto('session_contexts').values(context).execute();
}

/** The one rule of what is shown: neither revoked nor superseded nor expired. The newest first. */
const active = (db: Db, workspace: string, now: number) =>
  db
    .selectFrom('session_contexts')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('superseded_by', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('published_at', 'desc')
    .orderBy('id', 'desc');

export async function activeRows(db: Db, workspace: string, now: number, limit: number): Promise<SessionContextRow[]> {
  return await active(db, workspace, now).limit(limit).execute();
}

export async function activeRow(db: Db, workspace: string, id: string, now: number): Promise<SessionContextRow | undefined> {
  return await active(db, workspace, now).where('id', '=', id).executeTakeFirst();
}

/** Whatever became of it. */
export async function anyRow(db: Db, workspace: string, id: string): Promise<SessionContextRow | undefined> {
  return await db.selectFrom('session_contexts').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

/** The contexts of one developer; of a branch where it is given, which null is: the one that names none. */
export async function activeRowsOf(
  db: Db,
  workspace: string,
  developerId: string,
  branch: string | null | undefined,
  now: number,
): Promise<SessionContextRow[]> {
  let query = active(db, workspace, now).where('developer_id', '=', developerId);
  if (branch !== undefined) query = branch === null ? query.where('branch', 'is', null) : query.where('branch', '=', branch);
  return await query.execute();
}

export async function supersede(tx: Tx, id: string, by: string): Promise<void> {
  await tx.db.updateTable('session_contexts').set({ superseded_by: by }).where('workspace_id', '=', tx.workspace).where('id', '=', id).execute();
}

export async function revoke(tx: Tx, id: string): Promise<void> {
  await tx.db.updateTable('session_contexts').set({ revoked_at: tx.now }).where('workspace_id', '=', tx.workspace).where('id', '=', id).execute();
}
