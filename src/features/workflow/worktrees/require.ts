import { Refusal } from '../../../kernel/errors.ts';
import type { Db } from '../../../storage/engine.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { WorkflowTaskRow } from '../workflows/index.ts';
import { findWorktree } from './store.ts';

export async function requireWorktree(db: Db, workspace: string, id: string, field: string): Promise<WorktreeRow> {
  const row = await findWorktree(db, workspace, id);
  if (row) return row;
  throw new Refusal('WORKSPACE_NOT_FOUND', `There is no workspace ${JSON.stringify(id)}.`, 'workspace_list names those of a workflow.', { field });
}

export function requireSameWorkflow(task: WorkflowTaskRow, workflowId: string, field: string): void {
  if (task.workflow_id === workflowId) return;
  throw new Refusal(
    'WORKFLOW_MISMATCH',
    `Task ${task.id} belongs to workflow ${task.workflow_id}, the workspace to ${workflowId}.`,
    'Use a workspace of the same workflow.',
    { field, task_id: task.id, workflow_id: task.workflow_id },
  );
}

export function requireActive(row: WorktreeRow): void {
  if (row.status === 'active' && row.step === null) return;
  const state = row.status === 'active' ? 'still being made' : row.status;
  throw new Refusal('INVALID_STATE', `Workspace ${row.id} is ${state}: no task can be assigned to it.`, 'Use an active workspace: workspace_list names them.', {
    field: 'workspace_id',
    workspace_id: row.id,
    status: row.status,
  });
}
