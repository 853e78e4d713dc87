import type { Expression, SqlBool } from 'kysely';
import { type Principal, record, type Services, type WriteContext } from '../../../kernel/call.ts';
import { invalidState, notFound, Refusal } from '../../../kernel/reply.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, findRows, insertRows, newId, rowsById } from '../../../storage/rows.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { AgentStatus } from './contract.ts';

export const HEARTBEAT_MS = 30_000;
/** Three missed heartbeats. The claims of an agent that was silent for so long are given to others. */
export const LEASE_MS = 90_000;

/** Until when the agent holds what it has claimed, if nothing more is heard of it. */
export const leaseEnd = ({ last_seen_at }: Pick<AgentRow, 'last_seen_at'>): number => last_seen_at + LEASE_MS;

export const isSilent = (agent: Pick<AgentRow, 'last_seen_at'>, now: number): boolean => now >= leaseEnd(agent);

/** The sweep may be a few seconds late; what is told never is. */
export const statusAt = (agent: Pick<AgentRow, 'status' | 'last_seen_at'>, now: number): AgentStatus => (isSilent(agent, now) ? 'offline' : agent.status);

export const findAgent = (db: Db, workspace: string, id: string) => findRow(db, 'agents', { workspace_id: workspace, id });

export const agentsById = (db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, AgentRow>> => rowsById(db, 'agents', workspace, ids);

/** Online from now on. */
export async function addAgent(
  tx: Tx,
  agent: Omit<AgentRow, 'workspace_id' | 'id' | 'status' | 'current_task_id' | 'registered_at' | 'last_seen_at' | 'updated_at'>,
): Promise<AgentRow> {
  const times = { registered_at: tx.now, last_seen_at: tx.now, updated_at: tx.now };
  const row: AgentRow = { workspace_id: tx.workspace, id: newId('ag', tx.now), status: 'online', current_task_id: null, ...agent, ...times };
  await insertRows(tx.db, 'agents', row);
  return row;
}

export const changeAgent = (db: Db, workspace: string, id: string, values: Partial<AgentRow>) =>
  changeRows(db, 'agents', { workspace_id: workspace, id }, values);

/** Those that were registered under this name and heard of since then, the last heard of first. */
export const agentsActingAs = (db: Db, workspace: string, actor: string, since: number, limit: number): Promise<AgentRow[]> =>
  findRows(db, 'agents', { workspace_id: workspace, actor, last_seen_at: { '>=': since } }, { order: { last_seen_at: 'desc' }, limit });

/** In all workspaces, those that are due to be taken offline. */
async function silentAgents(db: Db, now: number, limit: number): Promise<Pick<AgentRow, 'workspace_id' | 'id'>[]> {
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

interface Leaving {
  /** In a word or two, for the journal. */
  readonly reason: string;
  readonly actor: string;
}

/** What the agent holds is given back. Answers how many tasks that were. */
export type Gone = (tx: Tx, agent: AgentRow, why: Leaving) => Promise<number>;

interface UnreadCounts {
  readonly count: number;
  readonly by_priority: Record<string, number>;
}

/** What agents need of features that know of agents. */
export interface AgentPorts {
  readonly gone: Gone;
  claims(db: Db, workspace: string, agentId: string): Promise<{ task_id: string; fence: number }[]>;
  unread(db: Db, workspace: string, agentId: string, now: number): Promise<UnreadCounts>;
}

const agentNotFound = (id: string, field: string): Refusal =>
  notFound(
    'AGENT_NOT_FOUND',
    `There is no agent ${JSON.stringify(id)} in this workspace.`,
    'agent_list names those there are; agent_register makes one.',
    field,
  );

export async function requireAgent(db: Db, workspace: string, id: string, field = 'agent_id'): Promise<AgentRow> {
  const agent = await findAgent(db, workspace, id);
  if (!agent) throw agentNotFound(id, field);
  return agent;
}

/** A developer's agents are theirs under each of their tokens. The operator has what it registered itself; an instance is itself and nobody else. */
export const isOwn = (agent: Pick<AgentRow, 'developer_id' | 'actor'>, { developerId, instanceId, actor }: Principal): boolean =>
  agent.developer_id === developerId && ((developerId !== null && instanceId === null) || agent.actor === actor);

export async function requireOwnAgent(db: Db, principal: Principal, id: string, field = 'agent_id'): Promise<AgentRow> {
  return requireOwn(await findAgent(db, principal.workspace, id), principal, id, field);
}

/** Nobody acts as an agent of somebody else's. `agent` is what was found under that id. */
export function requireOwn(agent: AgentRow | undefined, principal: Principal, id: string, field = 'agent_id'): AgentRow {
  if (!agent) throw agentNotFound(id, field);
  if (isOwn(agent, principal)) return agent;
  throw new Refusal(
    'FOREIGN_AGENT',
    `Agent ${JSON.stringify(id)} was registered by somebody else, and only they can act as it.`,
    'Register your own agent with agent_register, and use its id.',
    { field },
  );
}

/** One that was declared offline has lost its claims: it must come back by registering, or it would not know. */
export function requireOnline(agent: AgentRow, now: number, field = 'agent_id'): void {
  if (statusAt(agent, now) !== 'offline') return;
  throw invalidState(
    `Agent ${JSON.stringify(agent.id)} is offline, and whatever it had claimed has been released.`,
    'Register again with agent_register, and claim under the new id.',
    { field, status: 'offline' },
  );
}

/** A busy agent writes many times a second, and no lease is so short that it would matter which of them it runs from. */
const FRESH_MS = 1_000;

/** As `touchAgent`, of an agent that need not be told until when its lease runs. */
export async function touchIfStale(tx: Tx, agent: Pick<AgentRow, 'id' | 'last_seen_at'>): Promise<void> {
  if (tx.now - agent.last_seen_at >= FRESH_MS || tx.now < agent.last_seen_at) await touchAgent(tx, agent);
}

/** The agent was heard of: all its leases run anew. */
export async function touchAgent(tx: Tx, agent: Pick<AgentRow, 'id'>, values: Partial<AgentRow> = {}): Promise<void> {
  await changeAgent(tx.db, tx.workspace, agent.id, { ...values, last_seen_at: tx.now, updated_at: tx.now });
}

/** A claim of the agent has ended. `holdsMore`: it has others, and so is still busy. */
export async function easeAgent(tx: Tx, id: string, taskIds: readonly string[], holdsMore: Expression<SqlBool>): Promise<void> {
  await tx.db
    .updateTable('agents')
    .set(({ eb, not, and }) => ({
      status: eb
        .case()
        .when(and([eb('status', '=', 'busy'), not(holdsMore)]))
        .then('online' as const)
        .else(eb.ref('status'))
        .end(),
      current_task_id: eb.case().when('current_task_id', 'in', taskIds).then(null).else(eb.ref('current_task_id')).end(),
      updated_at: tx.now,
    }))
    .where('workspace_id', '=', tx.workspace)
    .where('id', '=', id)
    .where(({ eb, or, and, not }) => or([eb('current_task_id', 'in', taskIds), and([eb('status', '=', 'busy'), not(holdsMore)])]))
    .execute();
}

/** Why a step was released whose agent let its lease run out. */
export const AGENT_SILENT = 'agent silent';

/** Of one that was silent for too long, whoever finds out first: it is offline, and what it held is free. Answers how many tasks. */
export async function expireAgent(tx: Tx, id: string, gone: Gone): Promise<number> {
  const agent = await takeSilentOffline(tx.db, tx.workspace, id, tx.now);
  if (!agent) return 0;
  const tasks_released = await gone(tx, agent, { reason: AGENT_SILENT, actor: 'server' });
  const payload = { reason: 'silent', last_seen_at: agent.last_seen_at, tasks_released };
  tx.append({ category: 'work', kind: 'agent.offline', actor: 'server', subject: id, payload });
  return tasks_released;
}

/** By its own word. Answers how many tasks it gave back; one that is offline already has none. */
export async function leave(tx: Tx, ctx: WriteContext, agent: AgentRow, kind: 'agent.unregistered' | 'agent.offline', gone: Gone): Promise<number> {
  if (agent.status === 'offline') return 0;
  // One that was silent for too long cannot say that it left in time.
  if (isSilent(agent, tx.now)) return await expireAgent(tx, agent.id, gone);
  await changeAgent(tx.db, tx.workspace, agent.id, { status: 'offline', current_task_id: null, updated_at: tx.now });
  const reason = kind === 'agent.unregistered' ? 'agent unregistered' : 'agent went offline';
  const tasks_released = await gone(tx, { ...agent, status: 'offline', current_task_id: null }, { reason, actor: ctx.principal.actor });
  record(tx, ctx, { category: 'work', kind, subject: agent.id, payload: { tasks_released } });
  return tasks_released;
}

export const silenceSweep = (services: Pick<Services, 'store' | 'clock' | 'log'>, gone: Gone): Sweep =>
  dueSweep(services, { name: 'agents', everyMs: 5_000, atOnce: 100, find: silentAgents, settle: (tx, { id }) => expireAgent(tx, id, gone) });
