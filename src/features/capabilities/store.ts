import { compiledQuery } from '../../storage/compiled.ts';
import type { Db } from '../../storage/engine.ts';
import type { GrantRow, StandingGrant } from './tables.ts';

export async function insertGrant(db: Db, grant: GrantRow): Promise<void> {
  await db.insertInto('grants').values(grant).execute();
}

const grantsFor = compiledQuery(6, (db, workspace: string, s1: string, s2: string, s3: string, a1: string, a2: string) =>
  db.selectFrom('grants').selectAll().where('workspace_id', '=', workspace).where('subject', 'in', [s1, s2, s3]).where('action', 'in', [a1, a2]).orderBy('id'),
);

/** Grants of any status that name one of the subjects (at most three) and one of the actions (at most two). */
export async function findGrants(db: Db, workspace: string, subjects: readonly string[], actions: readonly string[]): Promise<GrantRow[]> {
  const [s1 = '', s2 = s1, s3 = s1] = subjects;
  const [a1 = '', a2 = a1] = actions;
  if (subjects.length > 3 || actions.length > 2) throw new Error('more subjects or actions than a principal can have');
  return await grantsFor(db, workspace, s1, s2, s3, a1, a2);
}

/** All that have not been revoked, in short: a caller may hold hundreds. */
export async function grantsOf(db: Db, workspace: string, subjects: readonly string[]): Promise<StandingGrant[]> {
  return await db
    .selectFrom('grants')
    .select(['action', 'revoked_at', 'expires_at', 'max_uses', 'uses'])
    .where('workspace_id', '=', workspace)
    .where('subject', 'in', subjects)
    .where('revoked_at', 'is', null)
    .execute();
}

export async function allGrants(db: Db, workspace: string): Promise<GrantRow[]> {
  return await db.selectFrom('grants').selectAll().where('workspace_id', '=', workspace).orderBy('id').execute();
}

export async function grantById(db: Db, workspace: string, id: string): Promise<GrantRow | undefined> {
  return await db.selectFrom('grants').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

/** The grant as it is after one more use. Whether it has one is asked in the same transaction, and writes of a workspace take turns. */
export async function countUse(db: Db, workspace: string, id: string, recent: string | null): Promise<GrantRow> {
  return await db
    .updateTable('grants')
    .set((eb) => ({ uses: eb('uses', '+', 1), revision: eb('revision', '+', 1), recent }))
    .where('workspace_id', '=', workspace)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
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
