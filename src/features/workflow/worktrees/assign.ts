import type { WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidState, Refusal } from '../../../kernel/reply.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type ClaimProof, changeTask, requireHold, requireNotEnded, requireTask, requireWorkflow, type WorkflowTaskRow } from '../workflows/index.ts';
import type { taskAssignWorkspace } from './contract.ts';
import { requireWorktree } from './store.ts';

export function requireSameWorkflow(task: WorkflowTaskRow, workflowId: string, field: string): void {
  if (task.workflow_id === workflowId) return;
  throw new Refusal(
    'WORKFLOW_MISMATCH',
    `Task ${task.id} belongs to workflow ${task.workflow_id}, but the workspace belongs to ${workflowId}.`,
    field === 'task_ids'
      ? `Call again with only tasks of workflow "${workflowId}" in task_ids.`
      : `Use a workspace of the same workflow: call workspace_list with workflow_id "${task.workflow_id}".`,
    { field, task_id: task.id, workflow_id: task.workflow_id },
  );
}

function requireActive(row: WorktreeRow): void {
  if (row.status === 'active' && row.step === null) return;
  const state = row.status === 'active' ? 'still being created' : row.status;
  const next = `Use an active workspace: call workspace_list with workflow_id "${row.workflow_id}" and status ["active"].`;
  throw invalidState(`Workspace ${row.id} is ${state}, so no task can be assigned to it.`, next, {
    field: 'workspace_id',
    workspace_id: row.id,
    status: row.status,
  });
}

/** Returns whether anything changed. */
export async function assignTask(tx: Tx, ctx: WriteContext, { task_id, workspace_id, ...writer }: Input<typeof taskAssignWorkspace>): Promise<boolean> {
  const task = await requireTask(tx.db, tx.workspace, task_id);
  const row = await requireWorktree(tx.db, tx.workspace, workspace_id, 'workspace_id');
  requireSameWorkflow(task, row.workflow_id, 'workspace_id');
  requireNotEnded(await requireWorkflow(tx.db, tx.workspace, task.workflow_id));
  requireActive(row);
  return await assign(tx, ctx, task, row.id, writer);
}

export async function assign(tx: Tx, ctx: WriteContext, task: WorkflowTaskRow, worktreeId: string, writer: ClaimProof): Promise<boolean> {
  await requireHold(tx, ctx, task, writer);
  return await placeTask(tx, ctx.principal.actor, task, worktreeId);
}

/** `task` must be the row as it is stored now. Returns whether anything changed. */
export async function placeTask(tx: Tx, actor: string, task: WorkflowTaskRow, worktreeId: string): Promise<boolean> {
  if (task.worktree_id === worktreeId) return false;
  await changeTask(tx.db, tx.workspace, task.id, { worktree_id: worktreeId, updated_at: tx.now });
  const payload = { workflow_id: task.workflow_id, workspace_id: worktreeId, from: task.worktree_id };
  tx.append({ category: 'work', kind: 'workflow.task_assigned_workspace', actor, subject: task.id, payload });
  return true;
}
