import type { Expression, SqlBool } from 'kysely';
import type { Principal } from '../../../kernel/call.ts';
import { invalidState, notFound, Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, findRows, insertRows, newId, rowsById } from '../../../storage/rows.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { AgentStatus } from './contract.ts';

export const HEARTBEAT_MS = 30_000;
/** How long a lease lasts: three heartbeat intervals. If an agent is silent for this long, other agents can claim its tasks. */
export const LEASE_MS = 90_000;

/** Returns the time at which the agent's leases expire if the agent makes no further call. */
export const leaseEnd = ({ last_seen_at }: Pick<AgentRow, 'last_seen_at'>): number => last_seen_at + LEASE_MS;

export const isSilent = (agent: Pick<AgentRow, 'last_seen_at'>, now: number): boolean => now >= leaseEnd(agent);

/** Returns the status that callers see. A silent agent counts as offline even before the sweep, which may be a few seconds late, has stored that status. */
export const statusAt = (agent: Pick<AgentRow, 'status' | 'last_seen_at'>, now: number): AgentStatus => (isSilent(agent, now) ? 'offline' : agent.status);

export const findAgent = (db: Db, workspace: string, id: string) => findRow(db, 'agents', { workspace_id: workspace, id });

export const agentsById = (db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, AgentRow>> => rowsById(db, 'agents', workspace, ids);

/** Adds an agent with the status online. */
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

/** Returns the actor's agents that were seen at or after the time `since`, most recently seen first. */
export const agentsActingAs = (db: Db, workspace: string, actor: string, since: number, limit: number): Promise<AgentRow[]> =>
  findRows(db, 'agents', { workspace_id: workspace, actor, last_seen_at: { '>=': since } }, { order: { last_seen_at: 'desc' }, limit });

const agentNotFound = (id: string, field: string): Refusal =>
  notFound(
    'AGENT_NOT_FOUND',
    `Agent ${JSON.stringify(id)} does not exist in this workspace.`,
    'Call agent_register to register your own agent, or agent_list to see the ids of all agents.',
    field,
  );

export async function requireAgent(db: Db, workspace: string, id: string, field = 'agent_id'): Promise<AgentRow> {
  const agent = await findAgent(db, workspace, id);
  if (!agent) throw agentNotFound(id, field);
  return agent;
}

/**
 * A developer owns all agents that any of their tokens registered. The operator owns the agents that the operator registered. An instance, which is an
 * agent that the server started, owns only itself.
 */
export const isOwn = (agent: Pick<AgentRow, 'developer_id' | 'actor'>, { developerId, instanceId, actor }: Principal): boolean =>
  agent.developer_id === developerId && ((developerId !== null && instanceId === null) || agent.actor === actor);

export async function requireOwnAgent(db: Db, principal: Principal, id: string, field = 'agent_id'): Promise<AgentRow> {
  return requireOwn(await findAgent(db, principal.workspace, id), principal, id, field);
}

/** Refuses if the agent belongs to another caller. `agent` is the stored row with this id, or undefined if there is none. */
export function requireOwn(agent: AgentRow | undefined, principal: Principal, id: string, field = 'agent_id'): AgentRow {
  if (!agent) throw agentNotFound(id, field);
  if (isOwn(agent, principal)) return agent;
  throw new Refusal(
    'FOREIGN_AGENT',
    `Agent ${JSON.stringify(id)} was registered by another caller, and only that caller can act as it.`,
    'Call agent_register, and use the id that it returns.',
    { field },
  );
}

/** Refuses an offline agent, because it has lost its claims. It must register again, so that it notices the loss. */
export function requireOnline(agent: AgentRow, now: number, field = 'agent_id'): void {
  if (statusAt(agent, now) !== 'offline') return;
  throw invalidState(
    `Agent ${JSON.stringify(agent.id)} is offline, and its claims were released.`,
    'Call agent_register, then task_claim with the id that it returns as agent_id.',
    { field, status: 'offline' },
  );
}

/**
 * `touchIfStale` stores the time at which an agent was last seen at most once in this interval. A busy agent writes many times per second, and a lease
 * does not have to be exact to the second.
 */
const FRESH_MS = 1_000;

/** Like `touchAgent`, but writes nothing if the agent was seen a moment ago. Use it for calls that do not report when the lease expires. */
export async function touchIfStale(tx: Tx, agent: Pick<AgentRow, 'id' | 'last_seen_at'>): Promise<void> {
  if (tx.now - agent.last_seen_at >= FRESH_MS || tx.now < agent.last_seen_at) await touchAgent(tx, agent);
}

/** Renews the leases of all tasks that the agent has claimed. */
export async function touchAgent(tx: Tx, agent: Pick<AgentRow, 'id'>, values: Partial<AgentRow> = {}): Promise<void> {
  await changeAgent(tx.db, tx.workspace, agent.id, { ...values, last_seen_at: tx.now, updated_at: tx.now });
}

/** Call this when the agent's claims of `taskIds` have ended. If the agent was busy, it becomes online, unless `holdsMore` shows that it has other claims. */
export async function setAgentIdle(tx: Tx, id: string, taskIds: readonly string[], holdsMore: Expression<SqlBool>): Promise<void> {
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
