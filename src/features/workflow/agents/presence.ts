import type { Expression, SqlBool } from 'kysely';
import { type Principal, record, type Services, type WriteContext } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import type { Db } from '../../../storage/engine.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { Runtime } from './contract.ts';
import { changeAgent, findAgent, insertAgent, isSilent, silentAgents, statusAt, takeSilentOffline } from './store.ts';

export interface Leaving {
  /** In a word or two, for the journal. */
  readonly reason: string;
  readonly actor: string;
}

/** What the agent holds is given back. Answers how many tasks that were. */
export type Gone = (tx: Tx, agent: AgentRow, why: Leaving) => Promise<number>;

export interface UnreadCounts {
  readonly count: number;
  readonly by_priority: Record<string, number>;
}

/** What agents need of features that know of agents. */
export interface AgentPorts {
  readonly gone: Gone;
  claims(db: Db, workspace: string, agentId: string): Promise<{ task_id: string; fence: number }[]>;
  unread(db: Db, workspace: string, agentId: string, now: number): Promise<UnreadCounts>;
}

export const agentNotFound = (id: string, field: string): Refusal =>
  new Refusal('AGENT_NOT_FOUND', `There is no agent ${JSON.stringify(id)} in this workspace.`, 'agent_list names those there are; agent_register makes one.', {
    field,
  });

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
  throw new Refusal(
    'INVALID_STATE',
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

/** Of one that was silent for too long, whoever finds out first: it is offline, and what it held is free. Answers how many tasks. */
export async function expireAgent(tx: Tx, id: string, gone: Gone): Promise<number> {
  const agent = await takeSilentOffline(tx.db, tx.workspace, id, tx.now);
  if (!agent) return 0;
  const tasks_released = await gone(tx, agent, { reason: 'agent silent', actor: 'server' });
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

/** An agent that the server itself has started. It need not register: it is told under which id it takes part. */
export interface StartedAgent {
  readonly name: string;
  readonly runtime: Runtime;
  readonly workspacePath: string;
  readonly developerId: string | null;
  /** As it acts, by its own token. */
  readonly actor: string;
}

export async function enlist(tx: Tx, { name, runtime, workspacePath, developerId, actor }: StartedAgent): Promise<string> {
  const row: AgentRow = {
    workspace_id: tx.workspace,
    id: newId('ag', tx.now),
    name,
    runtime,
    role: 'worker',
    status: 'online',
    capabilities: '[]',
    current_task_id: null,
    workspace_path: workspacePath,
    metadata: null,
    developer_id: developerId,
    // It has one only when it is started, and another when it is started again.
    token_id: '',
    actor,
    registered_at: tx.now,
    last_seen_at: tx.now,
    updated_at: tx.now,
  };
  await insertAgent(tx.db, row);
  tx.append({ category: 'work', kind: 'agent.registered', actor, subject: row.id, payload: { runtime, role: row.role } });
  return row.id;
}

/** The server sees its process run. One that was offline is back, without the claims that it had. */
export async function seenRunning(tx: Tx, id: string): Promise<void> {
  const agent = await findAgent(tx.db, tx.workspace, id);
  if (agent) await touchAgent(tx, agent, agent.status === 'offline' ? { status: 'online' } : {});
}

/** Its process has ended. */
export async function dismiss(tx: Tx, id: string, by: string, gone: Gone): Promise<void> {
  const agent = await findAgent(tx.db, tx.workspace, id);
  if (!agent || agent.status === 'offline') return;
  await changeAgent(tx.db, tx.workspace, id, { status: 'offline', current_task_id: null, updated_at: tx.now });
  const tasks_released = await gone(tx, { ...agent, status: 'offline', current_task_id: null }, { reason: 'agent ended', actor: by });
  tx.append({ category: 'work', kind: 'agent.offline', actor: by, subject: id, payload: { reason: 'ended', tasks_released } });
}

export const silenceSweep = (services: Pick<Services, 'store' | 'clock' | 'log'>, gone: Gone): Sweep =>
  dueSweep(services, { name: 'agents', everyMs: 5_000, atOnce: 100, find: silentAgents, settle: (tx, { id }) => expireAgent(tx, id, gone) });
