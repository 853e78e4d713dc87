import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput, Refusal } from '../../../kernel/reply.ts';
import { findRow, insertRows, newId } from '../../../storage/rows.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { requireNotEnded, requireTask, requireWorkflow } from '../workflows/index.ts';
import { assign, requireSameWorkflow } from './assign.ts';
import type { workspaceCreate } from './contract.ts';

/** Registers a worktree that an agent created. The server does not manage it, so it never removes it. */
export async function registerWorktree(tx: Tx, ctx: WriteContext, input: Input<typeof workspaceCreate>): Promise<string> {
  const { workflow_id, path, branch, base_branch = null, task_ids = [], ...writer } = input;
  const workflow = await requireWorkflow(tx.db, tx.workspace, workflow_id, 'workflow_id');
  requireNotEnded(workflow);
  const ids = [...new Set(task_ids)];
  if (writer.fence !== undefined && ids.length !== 1)
    throw invalidInput([{ field: 'fence', message: 'belongs to one claim, so send it with exactly one task' }]);
  if (writer.agent_id !== undefined && ids.length === 0) throw invalidInput([{ field: 'agent_id', message: 'requires task_ids' }]);
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

async function requireFreePath(tx: Tx, path: string): Promise<void> {
  const other = await findRow(tx.db, 'worktrees', { workspace_id: tx.workspace, path, status: 'active' });
  if (!other) return;
  const next = `Use workspace "${other.id}", or close it first: workspace_update with id "${other.id}" and status "abandoned", or "merged" with merge_commit.`;
  throw new Refusal('PATH_IN_USE', `${path} is already the path of active workspace ${other.id}.`, next, {
    field: 'path',
    workspace_id: other.id,
  });
}
