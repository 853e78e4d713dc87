import type { ExpressionBuilder } from 'kysely';
import { findBySuffix } from '../../../kernel/find-by-suffix.ts';
import type { Db } from '../../../storage/engine.ts';
import { chunks, compiledQuery, findRow, findRows, matching, pageOf } from '../../../storage/rows.ts';
import type { Database, DeveloperRow, TokenRow } from '../../../storage/schema-rows.ts';

export interface TokenWithDeveloper extends TokenRow {
  developer_name: string | null;
  developer_role: DeveloperRow['role'] | null;
  developer_visibility: DeveloperRow['visibility'] | null;
  runs_agents_since: number | null;
}

const tokenByHash = compiledQuery(1, (db, hash: string) => tokensWithDeveloper(db).where('tokens.hash', '=', hash));
const tokenByPreviousHash = compiledQuery(1, (db, hash: string) => tokensWithDeveloper(db).where('tokens.previous_hash', '=', hash));
const tokenById = compiledQuery(2, (db, workspace: string, id: string) =>
  tokensWithDeveloper(db).where('tokens.workspace_id', '=', workspace).where('tokens.id', '=', id),
);

/**
 * Finds a token by its current secret or by the secret that the last rotation replaced. The caller must check whether a replaced
 * secret is still valid.
 */
export async function findTokenByHash(db: Db, hash: string): Promise<TokenWithDeveloper | undefined> {
  return (await tokenByHash(db, hash))[0] ?? (await tokenByPreviousHash(db, hash))[0];
}

export async function findTokenById(db: Db, workspace: string, id: string): Promise<TokenWithDeveloper | undefined> {
  return (await tokenById(db, workspace, id))[0];
}

export async function workspaceTokens(db: Db, workspace: string, developerId?: string): Promise<TokenWithDeveloper[]> {
  let query = tokensWithDeveloper(db).where('tokens.workspace_id', '=', workspace);
  if (developerId) query = query.where('tokens.developer_id', '=', developerId);
  return await query.orderBy('tokens.id').execute();
}

interface TokenFilter {
  readonly token_id?: string | undefined;
  /** Null: tokens without a developer. */
  readonly developerId?: string | null;
  readonly instanceId?: string;
  /** Only tokens that can call tools, excluding browser sign-ins and the operator's token. */
  readonly calling?: boolean;
  readonly status?: 'live' | 'ended' | undefined;
  /** Agent tokens that are valid now and expire before this time. */
  readonly expiringBefore?: number | undefined;
  readonly now: number;
  readonly limit: number;
  readonly offset: number;
}

/** Newest first. */
export async function pageOfTokens(db: Db, workspace: string, filter: TokenFilter): Promise<{ rows: TokenWithDeveloper[]; total: number }> {
  const { token_id, developerId, instanceId, calling = false, status, expiringBefore, now, limit, offset } = filter;
  const fits = (eb: ExpressionBuilder<Database, 'tokens'>) => {
    const is = [eb('tokens.workspace_id', '=', workspace)];
    if (token_id !== undefined) is.push(eb('tokens.id', '=', token_id));
    if (developerId !== undefined) is.push(developerId === null ? eb('tokens.developer_id', 'is', null) : eb('tokens.developer_id', '=', developerId));
    if (instanceId !== undefined) is.push(eb('tokens.instance_id', '=', instanceId));
    if (calling) is.push(eb('tokens.kind', 'not in', ['web', 'operator']));
    const live = eb.and([eb('tokens.revoked_at', 'is', null), eb.or([eb('tokens.expires_at', 'is', null), eb('tokens.expires_at', '>=', now)])]);
    if (status !== undefined) is.push(status === 'live' ? live : eb.not(live));
    if (expiringBefore !== undefined) is.push(live, eb('tokens.kind', '=', 'agent'), eb('tokens.expires_at', '<', expiringBefore));
    return eb.and(is);
  };
  return await pageOf(tokensWithDeveloper(db).where(fits).orderBy('tokens.id', 'desc'), { limit, offset });
}

export async function tokensById(db: Db, workspace: string, ids: readonly string[]): Promise<TokenWithDeveloper[]> {
  const found: TokenWithDeveloper[] = [];
  for (const some of chunks(ids, 500))
    found.push(...(await tokensWithDeveloper(db).where('tokens.workspace_id', '=', workspace).where('tokens.id', 'in', some).execute()));
  return found;
}

/** Returns the ids of the instances that have worked for these developers. */
export async function instancesOf(db: Db, workspace: string, developers: readonly string[]): Promise<string[]> {
  const rows = await matching(db, 'tokens', { workspace_id: workspace, developer_id: developers, instance_id: { '!=': null } })
    .select('instance_id')
    .distinct()
    .execute();
  return rows.map(({ instance_id }) => instance_id as string);
}

function tokensWithDeveloper(db: Db) {
  return db
    .selectFrom('tokens')
    .leftJoin('developers', (join) => join.onRef('developers.workspace_id', '=', 'tokens.workspace_id').onRef('developers.id', '=', 'tokens.developer_id'))
    .leftJoin('machine_permissions', (join) =>
      join.onRef('machine_permissions.workspace_id', '=', 'tokens.workspace_id').onRef('machine_permissions.developer_id', '=', 'tokens.developer_id'),
    )
    .selectAll('tokens')
    .select(['developers.name as developer_name', 'developers.role as developer_role', 'developers.visibility as developer_visibility'])
    .select('machine_permissions.given_at as runs_agents_since');
}

/** Finds a token by its id or by the end of its id. If `developerId` is given, only tokens of that developer are searched. */
export const tokenNamed = (db: Db, workspace: string, tail: string, developerId?: string | null): Promise<TokenRow> =>
  findBySuffix(matching(db, 'tokens', { workspace_id: workspace, developer_id: developerId }).selectAll(), tail, 'token');

/** Returns the dashboard sessions of a developer that have not ended. */
export const liveWebTokens = (db: Db, workspace: string, developerId: string, now: number) =>
  findRows(
    db,
    'tokens',
    { workspace_id: workspace, developer_id: developerId, kind: 'web', revoked_at: null, expires_at: { '>=': now } },
    { order: { id: 'asc' } },
  );

export const developersOf = (db: Db, workspace: string) => findRows(db, 'developers', { workspace_id: workspace }, { order: { id: 'asc' } });

export const findDeveloper = (db: Db, workspace: string, by: { name: string } | { id: string }) =>
  findRow(db, 'developers', { workspace_id: workspace, ...by });

/** Returns the admin who joined first, because ids sort by creation time. */
export const firstDeveloper = (db: Db, workspace: string) => findRow(db, 'developers', { workspace_id: workspace, role: 'admin' }, { id: 'asc' });

/** Returns the ids of the developers who may run agents on the server's machine. */
export async function agentRunners(db: Db, workspace: string): Promise<ReadonlySet<string>> {
  const rows = await findRows(db, 'machine_permissions', { workspace_id: workspace });
  return new Set(rows.map(({ developer_id }) => developer_id));
}
