import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Principal } from '../../../kernel/context.ts';
import type { Db } from '../../../storage/engine.ts';
import type { AgentRow, Database } from '../../../storage/schema-rows.ts';
import { PRIVATE_RUNTIME, showsFieldsTo } from '../../core/identity/index.ts';
import type { AgentStatus, Role } from './contract.ts';

export const HEARTBEAT_MS = 30_000;
/** Three missed heartbeats. The claims of an agent that was silent for so long are given to others. */
export const LEASE_MS = 90_000;

/** Until when the agent holds what it has claimed, if nothing more is heard of it. */
export const leaseEnd = ({ last_seen_at }: Pick<AgentRow, 'last_seen_at'>): number => last_seen_at + LEASE_MS;

export const isSilent = (agent: Pick<AgentRow, 'last_seen_at'>, now: number): boolean => now >= leaseEnd(agent);

/** The sweep may be a few seconds late; what is told never is. */
export const statusAt = (agent: Pick<AgentRow, 'status' | 'last_seen_at'>, now: number): AgentStatus => (isSilent(agent, now) ? 'offline' : agent.status);

export async function insertAgent(db: Db, row: AgentRow): Promise<void> {
  await db.insertInto('agents').values(row).execute();
}

export async function findAgent(db: Db, workspace: string, id: string): Promise<AgentRow | undefined> {
  return await db.selectFrom('agents').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

export async function agentsById(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, AgentRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('agents').selectAll().where('workspace_id', '=', workspace).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

export async function changeAgent(db: Db, workspace: string, id: string, values: Partial<AgentRow>): Promise<void> {
  await db.updateTable('agents').set(values).where('workspace_id', '=', workspace).where('id', '=', id).execute();
}

export interface AgentFilter {
  readonly status?: readonly AgentStatus[] | undefined;
  readonly role?: Role | undefined;
  readonly runtime?: string | undefined;
}

/** The newest first, and how many there are in all. By what `viewer` is shown: silence counts before it was noted. */
export async function listAgents(
  db: Db,
  viewer: Principal,
  { status, role, runtime }: AgentFilter,
  now: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: AgentRow[]; total: number }> {
  const narrowed = <O>(query: SelectQueryBuilder<Database, 'agents', O>) => {
    let found = query.where('workspace_id', '=', viewer.workspace);
    if (role) found = found.where('role', '=', role);
    if (runtime !== undefined) found = found.where(sql<SqlBool>`case when ${showsFieldsTo(viewer)} then runtime else ${PRIVATE_RUNTIME} end = ${runtime}`);
    if (!status) return found;
    const live = status.filter((one) => one !== 'offline');
    return found.where((eb) => {
      const isLive = eb.and([eb('status', 'in', live), eb('last_seen_at', '>', now - LEASE_MS)]);
      const isOffline = eb.or([eb('status', '=', 'offline'), eb('last_seen_at', '<=', now - LEASE_MS)]);
      return eb.or([...(live.length > 0 ? [isLive] : []), ...(live.length < status.length ? [isOffline] : [])]);
    });
  };
  const rows = await narrowed(db.selectFrom('agents').selectAll()).orderBy('id', 'desc').limit(limit).offset(offset).execute();
  const count = await narrowed(db.selectFrom('agents').select((eb) => eb.fn.countAll<number>().as('total'))).executeTakeFirstOrThrow();
  return { rows, total: Number(count.total) };
}

/** Those that were registered under this name and heard of since then, the last heard of first. */
export async function agentsActingAs(db: Db, workspace: string, actor: string, since: number, limit: number): Promise<AgentRow[]> {
  return await db
    .selectFrom('agents')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('actor', '=', actor)
    .where('last_seen_at', '>=', since)
    .orderBy('last_seen_at', 'desc')
    .limit(limit)
    .execute();
}

/** In all workspaces, those that are due to be taken offline. */
export async function silentAgents(db: Db, now: number, limit: number): Promise<Pick<AgentRow, 'workspace_id' | 'id'>[]> {
  return await db
    .selectFrom('agents')
    .select(['workspace_id', 'id'])
    // Named one by one, or the index that leads with the status would be of no use.
    .where('status', 'in', ['online', 'busy'])
    .where('last_seen_at', '<=', now - LEASE_MS)
    .limit(limit)
    .execute();
}

/** Only where it still is silent and nobody was faster. */
export async function takeSilentOffline(db: Db, workspace: string, id: string, now: number): Promise<AgentRow | undefined> {
  return await db
    .updateTable('agents')
    .set({ status: 'offline', current_task_id: null, updated_at: now })
    .where('workspace_id', '=', workspace)
    .where('id', '=', id)
    .where('status', '!=', 'offline')
    .where('last_seen_at', '<=', now - LEASE_MS)
    .returningAll()
    .executeTakeFirst();
}
