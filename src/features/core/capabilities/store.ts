import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { wordsPattern } from '../../../kernel/like.ts';
import type { Db } from '../../../storage/engine.ts';
import { compiledQuery, matching } from '../../../storage/rows.ts';
import type { GrantRow } from '../../../storage/schema-rows.ts';
import type { GrantStatus } from './contract.ts';

/** The columns that decide the status of a grant. */
export type StandingGrant = Pick<GrantRow, 'action' | 'revoked_at' | 'expires_at' | 'max_uses' | 'uses'>;

export const grantsIn = (db: Db, workspace: string) => matching(db, 'grants', { workspace_id: workspace }).selectAll();

/** Ids sort by creation time. */
export const byAge = (a: GrantRow, b: GrantRow): number => (a.id < b.id ? -1 : 1);

const grantsFor = compiledQuery(6, (db, workspace: string, s1: string, s2: string, s3: string, a1: string, a2: string) =>
  db.selectFrom('grants').selectAll().where('workspace_id', '=', workspace).where('subject', 'in', [s1, s2, s3]).where('action', 'in', [a1, a2]),
);

/** Grants of any status for one of the subjects (at most three) and one of the actions (at most two). */
export async function findGrants(db: Db, workspace: string, subjects: readonly string[], actions: readonly string[]): Promise<GrantRow[]> {
  const [s1 = '', s2 = s1, s3 = s1] = subjects;
  const [a1 = '', a2 = a1] = actions;
  if (subjects.length > 3 || actions.length > 2) throw new Error('more subjects or actions than a principal can have');
  const found = await grantsFor(db, workspace, s1, s2, s3, a1, a2);
  // Sorted here, because SQLite would read every grant of the workspace to sort them.
  return found.sort(byAge);
}

/** All grants that are not revoked. */
const standing = (db: Db, workspace: string, subjects: readonly string[]) =>
  matching(db, 'grants', { workspace_id: workspace, subject: subjects, revoked_at: null });

/** Only the deciding columns, because a caller may hold hundreds of grants. */
export const grantsOf = (db: Db, workspace: string, subjects: readonly string[]): Promise<StandingGrant[]> =>
  standing(db, workspace, subjects).select(['action', 'revoked_at', 'expires_at', 'max_uses', 'uses']).execute();

export const standingGrants = (db: Db, workspace: string, subjects: readonly string[]) => standing(db, workspace, subjects).selectAll().execute();

interface GrantFilter {
  readonly subject?: string | undefined;
  /** Text in the action's name. */
  readonly text?: string | undefined;
  readonly status?: GrantStatus | undefined;
  /** Only grants older than this id. */
  readonly before?: string | undefined;
}

/** Newest first. */
export async function pageOfGrants(db: Db, workspace: string, { subject, text, status, before }: GrantFilter, now: number, limit: number): Promise<GrantRow[]> {
  let query = matching(db, 'grants', { workspace_id: workspace, subject, id: before === undefined ? undefined : { '<': before } }).selectAll();
  if (text !== undefined) query = query.where(sql<SqlBool>`lower(action) like ${wordsPattern(text.toLowerCase())} escape '\\'`);
  if (status !== undefined) query = query.where(hasStatus(status, now));
  return await query.orderBy('id', 'desc').limit(limit).execute();
}

/** `grantStatus` as a SQL condition. */
function hasStatus(status: GrantStatus, now: number): RawBuilder<SqlBool> {
  const revoked = sql<SqlBool>`revoked_at is not null`;
  const expired = sql<SqlBool>`expires_at is not null and expires_at < ${now}`;
  const exhausted = sql<SqlBool>`max_uses is not null and uses >= max_uses`;
  switch (status) {
    case 'revoked':
      return revoked;
    case 'expired':
      return sql<SqlBool>`not (${revoked}) and ${expired}`;
    case 'exhausted':
      return sql<SqlBool>`not (${revoked}) and not (${expired}) and ${exhausted}`;
    case 'live':
      return sql<SqlBool>`not (${revoked}) and not (${expired}) and not (${exhausted})`;
  }
}

/** The grant after one more use. The caller checks for a remaining use in the same transaction, and writes of a workspace are serialized. */
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
