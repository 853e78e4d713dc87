import { record, type WriteContext } from '../../../kernel/context.ts';
import type { WorkflowRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { requireNotEnded } from './hold.ts';
import { changeWorkflow } from './store.ts';

export interface Parallelism {
  readonly max_parallel_tasks: number;
  readonly auto_create_workspaces?: boolean | undefined;
}

/** What is claimed already stays claimed. */
export async function changeParallelism(tx: Tx, ctx: WriteContext, workflow: WorkflowRow, wanted: Parallelism): Promise<void> {
  requireNotEnded(workflow);
  const { max_parallel_tasks } = wanted;
  const auto = wanted.auto_create_workspaces ?? workflow.auto_create_workspaces === 1;
  await changeWorkflow(tx.db, tx.workspace, workflow.id, { max_parallel_tasks, auto_create_workspaces: auto ? 1 : 0, updated_at: tx.now });
  const payload = { from: workflow.max_parallel_tasks, to: max_parallel_tasks, auto_create_workspaces: auto };
  record(tx, ctx, { category: 'work', kind: 'workflow.parallelism_changed', subject: workflow.id, payload });
}
