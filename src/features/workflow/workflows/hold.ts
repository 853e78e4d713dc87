import type { WriteContext } from '../../../kernel/call.ts';
import { Refusal } from '../../../kernel/reply.ts';
import type { WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type AgentRow, findAgent, isSilent, requireOwn, statusAt, touchIfStale } from '../agents/index.ts';

export interface ClaimProof {
  readonly agent_id?: string | undefined;
  readonly fence?: number | undefined;
}

/**
 * Checks that the caller may write to the task. If the task is claimed, only the agent that claimed it may write, and the write renews the lease as a
 * heartbeat does. Any agent may write to an unclaimed task. Returns the id of the writing agent. `named` is the row of that agent, if the caller has
 * already read it.
 */
export async function requireHold(tx: Tx, ctx: WriteContext, task: WorkflowTaskRow, writer: ClaimProof, named?: AgentRow): Promise<string | null> {
  if (writer.fence !== undefined && writer.fence !== task.fence) {
    throw new Refusal(
      'STALE_CLAIM',
      `Your claim has ended: fence ${writer.fence} is old, and the current one is ${task.fence}. The task was released or claimed again.`,
      `Stop working on it. To continue, call task_claim with task_id "${task.id}" and your agent_id, then task_load_context with task_id "${task.id}".`,
      { field: 'fence', task_id: task.id, current_fence: task.fence },
    );
  }
  const { agent_id } = writer;
  const own = agent_id === undefined ? null : requireOwn(named ?? (await findAgent(tx.db, tx.workspace, agent_id)), ctx.principal, agent_id);
  const holderId = task.assigned_agent_id;
  if (holderId === null) {
    if (own) requireNotOffline(task, own, writer.fence, tx.now);
    return own?.id ?? null;
  }
  if (own && own.id !== holderId) throw notAssigned(task, `Task ${JSON.stringify(task.name)} is claimed by another agent, not by ${own.id}.`);
  const holder = own ?? (await findAgent(tx.db, tx.workspace, holderId));
  if (!own && holder?.token_id !== ctx.principal.tokenId)
    throw notAssigned(task, `Task ${JSON.stringify(task.name)} is claimed by an agent that this token did not register.`);
  // The sweep will release this claim soon. Late writes are refused already now, so that the result does not depend on when the sweep runs.
  if (!holder || isSilent(holder, tx.now)) throw claimLost(task, holderId);
  await touchIfStale(tx, holder);
  return holderId;
}

/**
 * An offline agent has lost its claims. It may only repeat a call that succeeded while the agent was online. Such a call either sends the current
 * fence, or comes from the agent that completed the task.
 */
function requireNotOffline(task: WorkflowTaskRow, agent: AgentRow, fence: number | undefined, now: number): void {
  if (fence === undefined && task.completed_by !== agent.id && statusAt(agent, now) === 'offline') throw claimLost(task, agent.id);
}

/** The message does not say which agent holds the task, because not every caller may know. Callers that may know it see `assigned_agent_id`. */
const notAssigned = (task: WorkflowTaskRow, message: string): Refusal =>
  new Refusal('NOT_ASSIGNED', message, 'Call task_get_available with your agent_id to find a task that you can claim.', {
    field: 'agent_id',
    task_id: task.id,
    assigned_agent_id: task.assigned_agent_id,
  });

const claimLost = (task: WorkflowTaskRow, agentId: string): Refusal =>
  new Refusal(
    'STALE_CLAIM',
    `Agent ${agentId} is offline: it unregistered, or was silent for too long. Its claims were released.`,
    `Call agent_register, then task_claim with task_id "${task.id}" and the new agent_id, then task_load_context with task_id "${task.id}".`,
    { field: 'agent_id', task_id: task.id, current_fence: task.fence },
  );
