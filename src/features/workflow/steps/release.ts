import { excerpt } from '../../../kernel/excerpt.ts';
import { findRows } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type AgentRow, easeAgent, findAgent, statusAt } from '../agents/index.ts';
import {
  addCheckpoint,
  changeTask,
  findTask,
  isOneOf,
  type StoredTaskStatus,
  SYSTEM_MACHINE,
  shownStatus,
  syncOverlapOwner,
  syncOverlapStatus,
  type WorkflowRow,
  type WorkflowTaskRow,
} from '../workflows/index.ts';
import { holdsOther, tasksClaimedIn } from './store.ts';

/** Why a claim ended, and by whose doing. */
interface Why {
  readonly reason: string;
  readonly actor: string;
  readonly session?: string | null;
}

const SHORT = 200;
export const UNCLAIMED = { assigned_agent_id: null, claimed_at: null } as const;

/** The claim goes; what was begun goes back to where it can be taken up anew. `task` must be as it stands now. */
async function giveBack(tx: Tx, task: WorkflowTaskRow, why: Why): Promise<void> {
  const agentId = task.assigned_agent_id;
  const wasBegun = isOneOf(SYSTEM_MACHINE.release.from, task.status);
  // A question is out: its answer decides where the task goes.
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

/** The agent of a claim that has ended is free for other work, unless it has some. */
export async function markIdle(tx: Tx, agentId: string | null, taskIds: readonly string[]): Promise<void> {
  if (agentId !== null) await easeAgent(tx, agentId, taskIds, holdsOther(tx.db, tx.workspace, agentId, taskIds));
}

export async function releaseTask(tx: Tx, task: WorkflowTaskRow, why: Why): Promise<void> {
  await giveBack(tx, task, why);
  await markIdle(tx, task.assigned_agent_id, [task.id]);
}

/** Of an agent that is gone. Answers how many tasks it held. */
export async function releaseClaimsOf(tx: Tx, agent: Pick<AgentRow, 'id'>, why: Why): Promise<number> {
  const held = await findRows(
    tx.db,
    'workflow_tasks',
    { workspace_id: tx.workspace, assigned_agent_id: agent.id },
    { order: { claimed_at: 'asc', id: 'asc' } },
  );
  for (const task of held) await giveBack(tx, task, why);
  return held.length;
}

/** Of a workflow that has ended: the claims go, and the tasks stay as they were left. */
export async function releaseClaimsIn(tx: Tx, workflow: Pick<WorkflowRow, 'id'>, actor: string): Promise<number> {
  const held = await tasksClaimedIn(tx.db, tx.workspace, workflow.id);
  for (const task of held) {
    const fence = task.fence + 1;
    await changeTask(tx.db, tx.workspace, task.id, { ...UNCLAIMED, fence, updated_at: tx.now });
    const payload = { workflow_id: workflow.id, agent_id: task.assigned_agent_id, reason: 'workflow ended', from: task.status, to: task.status, fence };
    tx.append({ category: 'work', kind: 'workflow.task_released', actor, subject: task.id, payload });
  }
  for (const [agentId, tasks] of Map.groupBy(held, (task) => task.assigned_agent_id)) {
    await markIdle(
      tx,
      agentId,
      tasks.map(({ id }) => id),
    );
  }
  return held.length;
}

/** Undoes the claim that was made under `fence`, unless it is another's by now. */
export async function unclaimTask(tx: Tx, task: Pick<WorkflowTaskRow, 'id'>, fence: number, actor: string, reason: string): Promise<boolean> {
  const now = await findTask(tx.db, tx.workspace, task.id);
  if (now?.fence !== fence || now.assigned_agent_id === null) return false;
  await releaseTask(tx, now, { reason, actor });
  return true;
}

async function move(
  tx: Tx,
  task: WorkflowTaskRow,
  values: Partial<WorkflowTaskRow> & { status: StoredTaskStatus },
  actor: string,
  reason: string,
): Promise<void> {
  await changeTask(tx.db, tx.workspace, task.id, { ...values, updated_at: tx.now });
  if (values.status === task.status) return;
  const payload = { workflow_id: task.workflow_id, from: shownStatus(task), to: values.status, reason };
  tx.append({ category: 'work', kind: 'workflow.task_status_changed', actor, subject: task.id, payload });
  await syncOverlapStatus(tx, task, values.status);
}

/** The task waits for a person. Whoever asks must be allowed to write to it, and its status one that a question can pause. */
export async function pauseForQuestion(tx: Tx, task: WorkflowTaskRow, questionId: string, actor = 'server'): Promise<void> {
  const { status } = task;
  if (status !== 'planning' && status !== 'in_progress') throw new Error(`a question cannot pause a task that is ${status}`);
  await move(tx, task, { status: SYSTEM_MACHINE.ask.to, question_id: questionId, resume_status: status }, actor, 'question asked');
}

/** The question is settled: the task goes on where it was, or, when its agent has gone meanwhile, back to pending. Answers which. */
export async function resumeAfterAnswer(tx: Tx, task: WorkflowTaskRow, actor: string): Promise<StoredTaskStatus> {
  const status = task.status === 'paused' ? await statusAfter(tx, task) : task.status;
  await move(tx, task, { status, question_id: null, resume_status: null }, actor, 'question settled');
  return status;
}

async function statusAfter(tx: Tx, task: WorkflowTaskRow): Promise<StoredTaskStatus> {
  const back = task.resume_status ?? 'pending';
  // Nobody ever held it, or whoever did has given it back, and with it where it was.
  if (task.assigned_agent_id === null) return back;
  const holder = await findAgent(tx.db, tx.workspace, task.assigned_agent_id);
  return holder && statusAt(holder, tx.now) !== 'offline' ? back : 'pending';
}
