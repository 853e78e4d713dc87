import type { Db } from '../../../storage/engine.ts';
import { findRows, insertRows, newId } from '../../../storage/rows.ts';
import type { CheckpointRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { changeTask } from './store.ts';

interface NewCheckpoint {
  readonly type: CheckpointRow['type'];
  readonly summary: string;
  readonly detail?: Record<string, unknown> | undefined;
  readonly files_changed?: readonly string[] | undefined;
  readonly agentId: string | null;
  readonly actor: string;
}

/** Adds a checkpoint. `task` must be the row as it is stored now, because its `last_checkpoint` determines the number of the new checkpoint. */
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
  await insertRows(tx.db, 'checkpoints', row);
  await changeTask(tx.db, tx.workspace, task.id, { last_checkpoint: sequence, updated_at: tx.now });
  return row;
}

/** A sequence is a 32-bit integer; PostgreSQL refuses to compare it with a larger number. */
const LAST_SEQUENCE = 2_147_483_647;

/** Returns the newest checkpoints of a task, newest first. */
export const newestCheckpoints = (db: Db, workspace: string, taskId: string, limit: number, before = LAST_SEQUENCE): Promise<CheckpointRow[]> =>
  findRows(db, 'checkpoints', { workspace_id: workspace, task_id: taskId, sequence: { '<': before } }, { order: { sequence: 'desc' }, limit });
