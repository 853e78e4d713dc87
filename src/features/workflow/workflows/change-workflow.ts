import { record, type WriteContext } from '../../../kernel/call.ts';
import { absolutePath } from '../../../kernel/contract.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { invalidInput } from '../../../kernel/reply.ts';
import { insertRows, newId } from '../../../storage/rows.ts';
import type { CheckpointRow, WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { ensureRepository } from '../repositories/index.ts';
import type { SourceType } from './contract.ts';
import { isEnded, requireTransition, WORKFLOW_MACHINE, type WorkflowStatus } from './lifecycle.ts';
import { tellEnded } from './overlap.ts';
import { changeTask, changeWorkflow, requireNotEnded } from './store.ts';

interface NewWorkflow {
  readonly name: string;
  readonly source_type: SourceType;
  readonly source_ref?: string | undefined;
  readonly source_content: string;
  readonly repository_path?: string | undefined;
  readonly max_parallel_tasks: number;
  readonly auto_create_workspaces: boolean;
}

export async function createWorkflow(tx: Tx, ctx: WriteContext, spec: NewWorkflow): Promise<WorkflowRow> {
  const repository = await ensureRepository(tx, ctx, spec.repository_path ?? reportedRepository(ctx));
  const row: WorkflowRow = {
    workspace_id: tx.workspace,
    id: newId('wf', tx.now),
    name: spec.name,
    status: 'planning',
    status_reason: null,
    source_type: spec.source_type,
    source_ref: spec.source_ref ?? null,
    source_content: spec.source_content,
    repository_path: repository.path,
    plan: null,
    max_parallel_tasks: spec.max_parallel_tasks,
    auto_create_workspaces: spec.auto_create_workspaces ? 1 : 0,
    developer_id: ctx.principal.developerId,
    actor: ctx.principal.actor,
    created_at: tx.now,
    updated_at: tx.now,
    started_at: null,
    finished_at: null,
  };
  await insertRows(tx.db, 'workflows', row);
  const payload = { name: excerpt(row.name, 200), source_type: row.source_type, repository_id: repository.id };
  record(tx, ctx, { category: 'work', kind: 'workflow.created', subject: row.id, payload });
  return row;
}

function reportedRepository({ repository }: WriteContext): string {
  const path = absolutePath.safeParse(repository ?? '');
  if (path.success) return path.data;
  throw invalidInput([{ field: 'repository_path', message: 'is needed here: the caller reported no repository that it works in' }]);
}

export interface WorkflowPorts {
  /** The workflow has just ended: nobody holds a task of it any more. */
  onEnded(tx: Tx, workflow: WorkflowRow, actor: string): Promise<unknown>;
}

/** Whether anything changed: the status that holds already is accepted, and stays with its reason. */
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
    await tellEnded(tx, changed);
  }
  return true;
}

interface Parallelism {
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

interface NewCheckpoint {
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
  await insertRows(tx.db, 'checkpoints', row);
  await changeTask(tx.db, tx.workspace, task.id, { last_checkpoint: sequence, updated_at: tx.now });
  return row;
}
