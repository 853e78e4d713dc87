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
 * Only the holder may write to a claimed task; anybody may write to an unclaimed one. Returns the id of the agent that writes.
 * `named` is that agent, if the caller has read it already. The write renews the lease as a heartbeat does.
 */
export async function requireHold(tx: Tx, ctx: WriteContext, task: WorkflowTaskRow, writer: ClaimProof, named?: AgentRow): Promise<string | null> {
  if (writer.fence !== undefined && writer.fence !== task.fence) {
    throw new Refusal(
      'STALE_CLAIM',
      `Fence ${writer.fence} is not that of the current claim: the task was released or claimed again since.`,
      'Stop working on it. Claim it anew with task_claim, and load its context again.',
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
  // The sweep is about to release it; whether a late write succeeds must not depend on chance.
  if (!holder || isSilent(holder, tx.now)) throw claimLost(task, holderId);
  await touchIfStale(tx, holder);
  return holderId;
}

/** An offline agent has lost its claims. It may only repeat a call that it made in time: then the fence is still its own, or it completed the task. */
function requireNotOffline(task: WorkflowTaskRow, agent: AgentRow, fence: number | undefined, now: number): void {
  if (fence === undefined && task.completed_by !== agent.id && statusAt(agent, now) === 'offline') throw claimLost(task, agent.id);
}

/** The message does not name the holder: only callers who may know see `assigned_agent_id`. */
const notAssigned = (task: WorkflowTaskRow, message: string): Refusal =>
  new Refusal('NOT_ASSIGNED', message, 'Work on a task of your own: task_get_available lists what is free.', {
    field: 'agent_id',
    task_id: task.id,
    assigned_agent_id: task.assigned_agent_id,
  });

const claimLost = (task: WorkflowTaskRow, agentId: string): Refusal =>
  new Refusal(
    'STALE_CLAIM',
    `Agent ${agentId} is offline: it left, or was silent for too long, and whatever it had claimed is no longer its own.`,
    'Register again, claim the task anew and load its context.',
    { field: 'agent_id', task_id: task.id, current_fence: task.fence },
  );
