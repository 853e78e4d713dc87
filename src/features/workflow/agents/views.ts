import { type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import { matching, pageOf, readJson } from '../../../storage/rows.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import { PRIVATE_RUNTIME, showsFieldsTo, type Viewer, viewerOf } from '../../core/identity/index.ts';
import type { AgentStatus, AgentView, Role } from './contract.ts';
import { isOwn, LEASE_MS, leaseEnd, statusAt } from './presence.ts';

const strings = z.array(z.string());
const json = z.record(z.string(), z.unknown());

export const capabilitiesOf = ({ capabilities }: Pick<AgentRow, 'capabilities'>): string[] => readJson(strings, capabilities);

export interface AgentViewer extends Viewer {
  view(row: AgentRow): AgentView;
}

/** Other people see that a private developer's agent exists and what it can do, but not its name or anything else that reveals the owner. */
export async function agentViewer(db: Db, principal: Principal, now: number): Promise<AgentViewer> {
  const viewer = await viewerOf(db, principal);
  const view = (row: AgentRow): AgentView => {
    const isSeen = viewer.sees(row.developer_id);
    const status = statusAt(row, now);
    return {
      id: row.id,
      name: viewer.show(row.developer_id, row.name),
      runtime: row.runtime,
      role: row.role,
      status,
      capabilities: capabilitiesOf(row),
      current_task_id: status === 'offline' ? null : row.current_task_id,
      workspace_path: isSeen ? row.workspace_path : null,
      metadata: isSeen && row.metadata !== null ? readJson(json, row.metadata) : null,
      developer: viewer.name(row.developer_id),
      mine: isOwn(row, principal),
      registered_at: row.registered_at,
      last_seen_at: row.last_seen_at,
      lease_expires_at: status === 'offline' ? null : leaseEnd(row),
    };
  };
  return { ...viewer, view };
}

export interface AgentFilter {
  readonly status?: readonly AgentStatus[] | undefined;
  readonly role?: Role | undefined;
  readonly runtime?: string | undefined;
}

/**
 * Returns one page of agents, newest first, and the total number of matching agents. The filter uses the status that callers see: a silent agent
 * counts as offline even before the sweep has stored that.
 */
export async function listAgents(
  db: Db,
  viewer: Principal,
  { status, role, runtime }: AgentFilter,
  now: number,
  page: { limit: number; offset: number },
): Promise<{ rows: AgentRow[]; total: number }> {
  let query = matching(db, 'agents', { workspace_id: viewer.workspace, role });
  if (runtime !== undefined) query = query.where(sql<SqlBool>`case when ${showsFieldsTo(viewer)} then runtime else ${PRIVATE_RUNTIME} end = ${runtime}`);
  if (status) {
    const live = status.filter((one) => one !== 'offline');
    query = query.where((eb) => {
      const isLive = eb.and([eb('status', 'in', live), eb('last_seen_at', '>', now - LEASE_MS)]);
      const isOffline = eb.or([eb('status', '=', 'offline'), eb('last_seen_at', '<=', now - LEASE_MS)]);
      return eb.or([...(live.length > 0 ? [isLive] : []), ...(live.length < status.length ? [isOffline] : [])]);
    });
  }
  return await pageOf(query.selectAll().orderBy('id', 'desc'), page);
}
