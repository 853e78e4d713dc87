import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { wordsPattern } from '../../../kernel/like.ts';
import type { Db } from '../../../storage/engine.ts';
import { compiledQuery, matching } from '../../../storage/rows.ts';
import type { GrantRow } from '../../../storage/schema-rows.ts';
import type { GrantStatus } from './contract.ts';

/** The columns that decide the status of a grant. */
export type StandingGrant = Pick<GrantRow, 'action' | 'revoked_at' | 'expires_at' | 'max_uses' | 'uses'>;

export const grantsIn = (db: Db, workspace: string) => matching(db, 'grants', { workspace_id: workspace }).selectAll();

/** Sorts grants from old to new, because ids sort by creation time. */
export const byAge = (a: GrantRow, b: GrantRow): number => (a.id < b.id ? -1 : 1);

const grantsFor = compiledQuery(6, (db, workspace: string, s1: string, s2: string, s3: string, a1: string, a2: string) =>
  db.selectFrom('grants').selectAll().where('workspace_id', '=', workspace).where('subject', 'in', [s1, s2, s3]).where('action', 'in', [a1, a2]),
);

/** Returns the grants of at most three subjects for at most two actions, whatever their status is. */
export async function findGrants(db: Db, workspace: string, subjects: readonly string[], actions: readonly string[]): Promise<GrantRow[]> {
  const [s1 = '', s2 = s1, s3 = s1] = subjects;
  const [a1 = '', a2 = a1] = actions;
  if (subjects.length > 3 || actions.length > 2) throw new Error('more subjects or actions than a principal can have');
  const found = await grantsFor(db, workspace, s1, s2, s3, a1, a2);
  // The grants are sorted here, because a query with an order would make SQLite read every grant of the workspace.
  return found.sort(byAge);
}

/** Selects all grants of the subjects that are not revoked. */
const standing = (db: Db, workspace: string, subjects: readonly string[]) =>
  matching(db, 'grants', { workspace_id: workspace, subject: subjects, revoked_at: null });

/** Reads only the columns that decide the status, because a caller may have hundreds of grants. */
export const grantsOf = (db: Db, workspace: string, subjects: readonly string[]): Promise<StandingGrant[]> =>
  standing(db, workspace, subjects).select(['action', 'revoked_at', 'expires_at', 'max_uses', 'uses']).execute();

export const standingGrants = (db: Db, workspace: string, subjects: readonly string[]) => standing(db, workspace, subjects).selectAll().execute();

interface GrantFilter {
  readonly subject?: string | undefined;
  /** Only grants whose action contains this text. */
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

/** Returns the SQL condition for grants to which `grantStatus` gives this status. */
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

/**
 * Counts one use and returns the changed grant. The caller must check in the same transaction that a use is left. No other write
 * can come between, because writes of a workspace run one after another.
 */
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
