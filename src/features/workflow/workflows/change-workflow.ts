import { record, type WriteContext } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import type { WorkflowRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { isEnded, requireTransition, WORKFLOW_MACHINE, type WorkflowStatus } from './lifecycle.ts';
import { closeIndexedTasks } from './overlap.ts';
import { changeWorkflow, requireNotEnded } from './store.ts';

export interface WorkflowPorts {
  /** Called when a workflow has ended, to release the claims on its tasks. */
  onEnded(tx: Tx, workflow: WorkflowRow, actor: string): Promise<unknown>;
}

/** Returns whether anything changed. A call that sets the current status again succeeds, and the stored reason stays. */
export async function changeStatus(
  tx: Tx,
  ctx: WriteContext,
  workflow: WorkflowRow,
  to: WorkflowStatus,
  reason: string | undefined,
  { onEnded }: WorkflowPorts,
): Promise<boolean> {
  if (workflow.status === to) return false;
  requireTransition(WORKFLOW_MACHINE, 'workflow', workflow.id, workflow.status, to);
  const changed: WorkflowRow = {
    ...workflow,
    status: to,
    status_reason: reason ?? null,
    updated_at: tx.now,
    started_at: workflow.started_at ?? (to === 'in_progress' ? tx.now : null),
    finished_at: isEnded(to) ? tx.now : null,
  };
  const { status, status_reason, updated_at, started_at, finished_at } = changed;
  await changeWorkflow(tx.db, tx.workspace, workflow.id, { status, status_reason, updated_at, started_at, finished_at });
  const payload = { name: excerpt(workflow.name, 200), from: workflow.status, to, ...(reason === undefined ? {} : { reason: excerpt(reason, 400) }) };
  record(tx, ctx, { category: 'work', kind: 'workflow.status_changed', subject: workflow.id, payload });
  if (isEnded(to)) {
    await onEnded(tx, changed, ctx.principal.actor);
    await closeIndexedTasks(tx, changed);
  }
  return true;
}

interface Parallelism {
  readonly max_parallel_tasks: number;
  readonly auto_create_workspaces?: boolean | undefined;
}

/** Existing claims stay, even if there are more claims than the new limit allows. */
export async function changeParallelism(tx: Tx, ctx: WriteContext, workflow: WorkflowRow, change: Parallelism): Promise<void> {
  requireNotEnded(workflow);
  const { max_parallel_tasks } = change;
  const auto = change.auto_create_workspaces ?? workflow.auto_create_workspaces === 1;
  await changeWorkflow(tx.db, tx.workspace, workflow.id, { max_parallel_tasks, auto_create_workspaces: auto ? 1 : 0, updated_at: tx.now });
  const payload = { from: workflow.max_parallel_tasks, to: max_parallel_tasks, auto_create_workspaces: auto };
  record(tx, ctx, { category: 'work', kind: 'workflow.parallelism_changed', subject: workflow.id, payload });
}
