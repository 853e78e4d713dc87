import { newId } from '../../../kernel/ids.ts';
import type { CheckpointRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { changeTask, insertCheckpoint } from './store.ts';

export interface NewCheckpoint {
  readonly type: CheckpointRow['type'];
  readonly summary: string;
  readonly detail?: Record<string, unknown> | undefined;
  readonly files_changed?: readonly string[] | undefined;
  readonly agentId: string | null;
  readonly actor: string;
}

/** The next of the task's checkpoints. `task` must be as it stands in the store now: its counter numbers them. */
export async function addCheckpoint(tx: Tx, task: Pick<WorkflowTaskRow, 'id' | 'last_checkpoint'>, checkpoint: NewCheckpoint): Promise<CheckpointRow> {
  const sequence = task.last_checkpoint + 1;
  const row: CheckpointRow = {
    workspace_id: tx.workspace,
    task_id: task.id,
    sequence,
    id: newId('cp', tx.now),
    type: checkpoint.type,
    summary: checkpoint.summary,
    detail: checkpoint.detail === undefined ? null : JSON.stringify(checkpoint.detail),
    files_changed: JSON.stringify(checkpoint.files_changed ?? []),
    agent_id: checkpoint.agentId,
    actor: checkpoint.actor,
    created_at: tx.now,
  };
  await insertCheckpoint(tx.db, row);
  await changeTask(tx.db, tx.workspace, task.id, { last_checkpoint: sequence, updated_at: tx.now });
  return row;
}
