import { excerpt } from '../../../kernel/excerpt.ts';
import { Refusal } from '../../../kernel/reply.ts';
import type { Tx } from '../../../storage/write.ts';
import { type AgentRow, setAgentIdle } from '../agents/index.ts';
import {
  addCheckpoint,
  changeTask,
  findTask,
  isOneOf,
  SYSTEM_MACHINE,
  shownStatus,
  syncOverlapOwner,
  syncOverlapStatus,
  type WorkflowRow,
  type WorkflowTaskRow,
} from '../workflows/index.ts';
import { holdsOther, tasksClaimedIn, tasksHeldBy } from './store.ts';

/** Why a claim ended, and who ended it. */
interface ReleaseReason {
  readonly reason: string;
  readonly actor: string;
  readonly session?: string | null;
}

const SHORT = 200;
export const UNCLAIMED = { assigned_agent_id: null, claimed_at: null } as const;

/** Ends the claim. A task in progress becomes pending again. `task` must be the row as it is stored now. */
async function endClaim(tx: Tx, task: WorkflowTaskRow, why: ReleaseReason): Promise<void> {
  const agentId = task.assigned_agent_id;
  const wasBegun = isOneOf(SYSTEM_MACHINE.release.from, task.status);
  // While the task waits for an answer, its status stays. The answer determines the next status.
  const status = wasBegun && task.question_id === null ? SYSTEM_MACHINE.release.to : task.status;
  const fence = task.fence + 1;
  await changeTask(tx.db, tx.workspace, task.id, { ...UNCLAIMED, status, fence, resume_status: null, updated_at: tx.now });
  if (wasBegun) {
    const summary = `The claim of agent ${agentId} ended while the task was ${task.status}: ${why.reason}`;
    await addCheckpoint(tx, task, { type: 'recovery', summary, detail: { from: task.status, agent_id: agentId }, agentId, actor: why.actor });
  }
  const payload = { workflow_id: task.workflow_id, agent_id: agentId, reason: excerpt(why.reason, SHORT), from: shownStatus(task), to: status, fence };
  tx.append({ category: 'work', kind: 'workflow.task_released', actor: why.actor, subject: task.id, session: why.session ?? null, payload });
  if (status !== task.status) await syncOverlapStatus(tx, task, status);
  await syncOverlapOwner(tx, task.id, null);
}

/** Marks an agent as idle after its claims have ended, unless the agent holds another task. */
export async function markIdle(tx: Tx, agentId: string | null, taskIds: readonly string[]): Promise<void> {
  if (agentId !== null) await setAgentIdle(tx, agentId, taskIds, holdsOther(tx.db, tx.workspace, agentId, taskIds));
}

export async function releaseTask(tx: Tx, task: WorkflowTaskRow, why: ReleaseReason): Promise<void> {
  await endClaim(tx, task, why);
  await markIdle(tx, task.assigned_agent_id, [task.id]);
}

/** Releases all tasks of an agent that has left or was silent for too long. Returns the number of released tasks. */
export async function releaseClaimsOf(tx: Tx, agent: Pick<AgentRow, 'id'>, why: ReleaseReason): Promise<number> {
  const held = await tasksHeldBy(tx.db, tx.workspace, agent.id);
  for (const task of held) await endClaim(tx, task, why);
  return held.length;
}

/** Releases all claims on tasks of a workflow that has ended. The tasks keep their status. */
export async function releaseClaimsIn(tx: Tx, workflow: Pick<WorkflowRow, 'id'>, actor: string): Promise<number> {
  const held = await tasksClaimedIn(tx.db, tx.workspace, workflow.id);
  for (const task of held) {
    const fence = task.fence + 1;
    await changeTask(tx.db, tx.workspace, task.id, { ...UNCLAIMED, fence, updated_at: tx.now });
    const payload = { workflow_id: workflow.id, agent_id: task.assigned_agent_id, reason: 'workflow ended', from: task.status, to: task.status, fence };
    tx.append({ category: 'work', kind: 'workflow.task_released', actor, subject: task.id, payload });
  }
  for (const [agentId, tasks] of Map.groupBy(held, (task) => task.assigned_agent_id)) {
    const taskIds = tasks.map(({ id }) => id);
    await markIdle(tx, agentId, taskIds);
  }
  return held.length;
}

/** Undoes the claim with this fence. Does nothing if the task was claimed again in the meantime. */
export async function unclaimTask(tx: Tx, task: Pick<WorkflowTaskRow, 'id'>, fence: number, actor: string, reason: string): Promise<boolean> {
  const now = await findTask(tx.db, tx.workspace, task.id);
  if (now?.fence !== fence || now.assigned_agent_id === null) return false;
  await releaseTask(tx, now, { reason, actor });
  return true;
}

/** Returns the id of the agent that holds the task. Refuses if the task is not claimed. */
export function requireClaimed({ id, name, assigned_agent_id }: WorkflowTaskRow): string {
  if (assigned_agent_id !== null) return assigned_agent_id;
  throw new Refusal('NOT_CLAIMED', `Task ${JSON.stringify(name)} is not claimed.`, 'Nothing to release.', { field: 'task_id', task_id: id });
}
