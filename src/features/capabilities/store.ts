import type { Db } from '../../storage/engine.ts';
import type { GrantRow } from './tables.ts';

export async function insertGrant(db: Db, grant: GrantRow): Promise<void> {
  await db.insertInto('grants').values(grant).execute();
}

/** Grants of any status that name one of the subjects and one of the actions. */
export async function findGrants(db: Db, workspace: string, subjects: readonly string[], actions: readonly string[]): Promise<GrantRow[]> {
  return await db
    .selectFrom('grants')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('subject', 'in', subjects)
    .where('action', 'in', actions)
    .orderBy('id')
    .execute();
}

export async function grantsOf(db: Db, workspace: string, subjects: readonly string[]): Promise<GrantRow[]> {
  return await db.selectFrom('grants').selectAll().where('workspace_id', '=', workspace).where('subject', 'in', subjects).execute();
}

export async function allGrants(db: Db, workspace: string): Promise<GrantRow[]> {
  return await db.selectFrom('grants').selectAll().where('workspace_id', '=', workspace).orderBy('id').execute();
}

/** Takes one use, if there is one: the condition and the count are one statement. */
export async function consumeUse(db: Db, workspace: string, id: string, now: number): Promise<boolean> {
  const result = await db
    .updateTable('grants')
    .set((eb) => ({ uses: eb('uses', '+', 1), revision: eb('revision', '+', 1) }))
    .where('workspace_id', '=', workspace)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('max_uses', 'is', null), eb('uses', '<', eb.ref('max_uses'))]))
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>=', now)]))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export async function revokeGrant(db: Db, workspace: string, id: string, by: string, now: number): Promise<void> {
  await db
    .updateTable('grants')
    .set((eb) => ({ revoked_at: now, revoked_by: by, revision: eb('revision', '+', 1) }))
    .where('workspace_id', '=', workspace)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute();
}
