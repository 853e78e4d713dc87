import { record, type Services, type WriteContext } from '../../../kernel/call.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import type { Db } from '../../../storage/engine.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { changeAgent, isSilent, LEASE_MS } from './presence.ts';

interface LeaveReason {
  /** The reason that the journal stores, in a few words. */
  readonly reason: string;
  readonly actor: string;
}

/** Releases all tasks that the agent has claimed. Returns the number of released tasks. */
export type ReleaseClaims = (tx: Tx, agent: AgentRow, why: LeaveReason) => Promise<number>;

/** Takes an agent offline at its own request. Returns the number of released tasks. If the agent is already offline, does nothing and returns 0. */
export async function leave(
  tx: Tx,
  ctx: WriteContext,
  agent: AgentRow,
  kind: 'agent.unregistered' | 'agent.offline',
  releaseClaims: ReleaseClaims,
): Promise<number> {
  if (agent.status === 'offline') return 0;
  // The lease of the agent has already expired, so the journal records that the agent was silent, not that it left.
  if (isSilent(agent, tx.now)) return await expireAgent(tx, agent.id, releaseClaims);
  await changeAgent(tx.db, tx.workspace, agent.id, { status: 'offline', current_task_id: null, updated_at: tx.now });
  const reason = kind === 'agent.unregistered' ? 'agent unregistered' : 'agent went offline';
  const tasks_released = await releaseClaims(tx, { ...agent, status: 'offline', current_task_id: null }, { reason, actor: ctx.principal.actor });
  record(tx, ctx, { category: 'work', kind, subject: agent.id, payload: { tasks_released } });
  return tasks_released;
}

/** The reason that the journal gives for the release of a task whose agent was silent until its lease expired. */
export const AGENT_SILENT = 'agent silent';

/**
 * Takes a silent agent offline and releases its tasks. Returns the number of released tasks. Does nothing and returns 0 if the agent was seen again or
 * another call took it offline first.
 */
export async function expireAgent(tx: Tx, id: string, releaseClaims: ReleaseClaims): Promise<number> {
  const agent = await takeSilentOffline(tx.db, tx.workspace, id, tx.now);
  if (!agent) return 0;
  const tasks_released = await releaseClaims(tx, agent, { reason: AGENT_SILENT, actor: 'server' });
  const payload = { reason: 'silent', last_seen_at: agent.last_seen_at, tasks_released };
  tx.append({ category: 'work', kind: 'agent.offline', actor: 'server', subject: id, payload });
  return tasks_released;
}

export const silenceSweep = (services: Pick<Services, 'store' | 'clock' | 'log'>, releaseClaims: ReleaseClaims): Sweep =>
  dueSweep(services, { name: 'agents', everyMs: 5_000, atOnce: 100, find: silentAgents, settle: (tx, { id }) => expireAgent(tx, id, releaseClaims) });

/** Returns agents, from all workspaces, that are still stored as online although their lease has expired. */
async function silentAgents(db: Db, now: number, limit: number): Promise<Pick<AgentRow, 'workspace_id' | 'id'>[]> {
  return await db
    .selectFrom('agents')
    .select(['workspace_id', 'id'])
    // The query lists the statuses instead of excluding `offline`, because only then the database can use the index that begins with the status.
    .where('status', 'in', ['online', 'busy'])
    .where('last_seen_at', '<=', now - LEASE_MS)
    .limit(limit)
    .execute();
}

/** Returns undefined if the agent was seen again in the meantime, or if another server took it offline first. */
async function takeSilentOffline(db: Db, workspace: string, id: string, now: number): Promise<AgentRow | undefined> {
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
