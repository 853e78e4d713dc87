import type { Tx } from '../../../storage/write.ts';
import { findAgent, statusAt } from '../agents/index.ts';
import { changeTask, type StoredTaskStatus, SYSTEM_MACHINE, shownStatus, syncOverlapStatus, type WorkflowTaskRow } from '../workflows/index.ts';

/**
 * Pauses a task until a question is answered. The caller must already have checked that the agent may write to the task, and that the status of the
 * task allows a pause.
 */
export async function pauseForQuestion(tx: Tx, task: WorkflowTaskRow, questionId: string, actor = 'server'): Promise<void> {
  const { status } = task;
  if (status !== 'planning' && status !== 'in_progress') throw new Error(`a question cannot pause a task that is ${status}`);
  await changeStatus(tx, task, { status: SYSTEM_MACHINE.ask.to, question_id: questionId, resume_status: status }, actor, 'question asked');
}

/**
 * Resumes a task after its question was answered or expired. The task returns to the status that it had before the question, or to pending if its
 * agent has gone offline. Returns the new status.
 */
export async function resumeAfterAnswer(tx: Tx, task: WorkflowTaskRow, actor: string): Promise<StoredTaskStatus> {
  const status = task.status === 'paused' ? await statusAfter(tx, task) : task.status;
  await changeStatus(tx, task, { status, question_id: null, resume_status: null }, actor, 'question settled');
  return status;
}

async function statusAfter(tx: Tx, task: WorkflowTaskRow): Promise<StoredTaskStatus> {
  const back = task.resume_status ?? 'pending';
  // Without a claim, there is no agent that could be offline.
  if (task.assigned_agent_id === null) return back;
  const holder = await findAgent(tx.db, tx.workspace, task.assigned_agent_id);
  return holder && statusAt(holder, tx.now) !== 'offline' ? back : 'pending';
}

async function changeStatus(
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
