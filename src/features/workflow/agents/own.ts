import type { Expression, SqlBool } from 'kysely';
import type { Principal } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import type { Db } from '../../../storage/engine.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { statusAt } from './liveness.ts';
import { changeAgent, findAgent } from './store.ts';

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
export async function noteSign(tx: Tx, agent: Pick<AgentRow, 'id' | 'last_seen_at'>): Promise<void> {
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
