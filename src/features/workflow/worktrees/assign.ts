import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput, invalidState, notFound, Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { findRow, insertRows, newId } from '../../../storage/rows.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type ClaimProof, changeTask, requireHold, requireNotEnded, requireTask, requireWorkflow, type WorkflowTaskRow } from '../workflows/index.ts';
import type { taskAssignWorkspace, workspaceCreate } from './contract.ts';
import { findWorktree } from './store.ts';

export async function requireWorktree(db: Db, workspace: string, id: string, field: string): Promise<WorktreeRow> {
  const row = await findWorktree(db, workspace, id);
  if (row) return row;
  throw notFound('WORKSPACE_NOT_FOUND', `There is no workspace ${JSON.stringify(id)}.`, 'workspace_list names those of a workflow.', field);
}

function requireSameWorkflow(task: WorkflowTaskRow, workflowId: string, field: string): void {
  if (task.workflow_id === workflowId) return;
  throw new Refusal(
    'WORKFLOW_MISMATCH',
    `Task ${task.id} belongs to workflow ${task.workflow_id}, the workspace to ${workflowId}.`,
    'Use a workspace of the same workflow.',
    { field, task_id: task.id, workflow_id: task.workflow_id },
  );
}

function requireActive(row: WorktreeRow): void {
  if (row.status === 'active' && row.step === null) return;
  const state = row.status === 'active' ? 'still being made' : row.status;
  throw invalidState(`Workspace ${row.id} is ${state}: no task can be assigned to it.`, 'Use an active workspace: workspace_list names them.', {
    field: 'workspace_id',
    workspace_id: row.id,
    status: row.status,
  });
}

/** An agent's own worktree: the server only knows of it. */
export async function registerWorktree(tx: Tx, ctx: WriteContext, input: Input<typeof workspaceCreate>): Promise<string> {
  const { workflow_id, path, branch, base_branch = null, task_ids = [], ...writer } = input;
  const workflow = await requireWorkflow(tx.db, tx.workspace, workflow_id, 'workflow_id');
  requireNotEnded(workflow);
  const ids = [...new Set(task_ids)];
  if (writer.fence !== undefined && ids.length !== 1) throw invalidInput([{ field: 'fence', message: 'is of one claim: give it with exactly one task' }]);
  if (writer.agent_id !== undefined && ids.length === 0) throw invalidInput([{ field: 'agent_id', message: 'says nothing without task_ids' }]);
  await requireFreePath(tx, path);
  const row: WorktreeRow = {
    workspace_id: tx.workspace,
    id: newId('ws', tx.now),
    workflow_id,
    status: 'active',
    path,
    branch,
    base_branch,
    base_commit: null,
    merge_commit: null,
    repository_path: workflow.repository_path,
    made_by_server: 0,
    step: null,
    step_until: null,
    task_id: null,
    fence: null,
    kept_reason: null,
    actor: ctx.principal.actor,
    created_at: tx.now,
    updated_at: tx.now,
    closed_at: null,
  };
  await insertRows(tx.db, 'worktrees', row);
  record(tx, ctx, { category: 'work', kind: 'worktree.created', subject: row.id, payload: { workflow_id, branch, managed: false } });
  for (const id of ids) {
    const task = await requireTask(tx.db, tx.workspace, id, 'task_ids');
    requireSameWorkflow(task, workflow_id, 'task_ids');
    await assign(tx, ctx, task, row.id, writer);
  }
  return row.id;
}

/** Says whether anything changed. */
export async function assignTask(tx: Tx, ctx: WriteContext, { task_id, workspace_id, ...writer }: Input<typeof taskAssignWorkspace>): Promise<boolean> {
  const task = await requireTask(tx.db, tx.workspace, task_id);
  const row = await requireWorktree(tx.db, tx.workspace, workspace_id, 'workspace_id');
  requireSameWorkflow(task, row.workflow_id, 'workspace_id');
  requireNotEnded(await requireWorkflow(tx.db, tx.workspace, task.workflow_id));
  requireActive(row);
  return await assign(tx, ctx, task, row.id, writer);
}

async function assign(tx: Tx, ctx: WriteContext, task: WorkflowTaskRow, worktreeId: string, writer: ClaimProof): Promise<boolean> {
  await requireHold(tx, ctx, task, writer);
  return await placeTask(tx, ctx.principal.actor, task, worktreeId);
}

/** `task` must be as it stands now. Says whether anything changed. */
export async function placeTask(tx: Tx, actor: string, task: WorkflowTaskRow, worktreeId: string): Promise<boolean> {
  if (task.worktree_id === worktreeId) return false;
  await changeTask(tx.db, tx.workspace, task.id, { worktree_id: worktreeId, updated_at: tx.now });
  const payload = { workflow_id: task.workflow_id, workspace_id: worktreeId, from: task.worktree_id };
  tx.append({ category: 'work', kind: 'workflow.task_assigned_workspace', actor, subject: task.id, payload });
  return true;
}

async function requireFreePath(tx: Tx, path: string): Promise<void> {
  const other = await findRow(tx.db, 'worktrees', { workspace_id: tx.workspace, path, status: 'active' });
  if (!other) return;
  throw new Refusal('PATH_IN_USE', `${path} is the active workspace ${other.id} already.`, 'Use that one, or close it with workspace_update first.', {
    field: 'path',
    workspace_id: other.id,
  });
}
