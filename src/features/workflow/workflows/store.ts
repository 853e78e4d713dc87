import { z } from 'zod';
import type { WriteContext } from '../../../kernel/call.ts';
import { absolutePath } from '../../../kernel/contract.ts';
import { invalidState, notFound, Refusal } from '../../../kernel/reply.ts';
import { findBySuffix } from '../../../kernel/tail.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, chunks, findRow, matching } from '../../../storage/rows.ts';
import type { CheckpointRow, WorkflowDependencyRow, WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import { count, fits, flag, idOf, json, oneOf, type RowRules, rowRule } from '../../../storage/transfer/row-rules.ts';
import type { Tx } from '../../../storage/write.ts';
import { type AgentRow, findAgent, isSilent, requireOwn, statusAt, touchIfStale } from '../agents/index.ts';
import { CHECKPOINT_TYPES, COMPLEXITIES, SOURCE_TYPES } from './contract.ts';
import { isEnded, isOneOf, OPEN_WORKFLOW, TASK_STATUSES, WORKFLOW_STATUSES } from './lifecycle.ts';

export const findWorkflow = (db: Db, workspace: string, id: string) => findRow(db, 'workflows', { workspace_id: workspace, id });

export const changeWorkflow = (db: Db, workspace: string, id: string, values: Partial<WorkflowRow>) =>
  changeRows(db, 'workflows', { workspace_id: workspace, id }, values);

export async function findTask(db: Db, workspace: string, id: string): Promise<WorkflowTaskRow | undefined> {
  return await db
    .selectFrom('workflow_tasks')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('id', '=', id)
    .where('status', '!=', 'removed')
    .executeTakeFirst();
}

/** The tasks of a workflow, those that were removed aside: to be narrowed further. */
export const activeTasks = (db: Db, { workspace_id, id }: Pick<WorkflowRow, 'workspace_id' | 'id'>) =>
  db
    .selectFrom('workflow_tasks')
    .where('workflow_tasks.workspace_id', '=', workspace_id)
    .where('workflow_tasks.workflow_id', '=', id)
    .where('workflow_tasks.status', '!=', 'removed');

const ROWS_AT_ONCE = 500;

export async function insertTasks(db: Db, rows: readonly WorkflowTaskRow[]): Promise<void> {
  for (const some of chunks(rows, ROWS_AT_ONCE)) {
    await db.insertInto('workflow_tasks').values(some).execute();
  }
}

export async function insertDependencies(db: Db, rows: readonly WorkflowDependencyRow[]): Promise<void> {
  for (const some of chunks(rows, ROWS_AT_ONCE)) {
    await db.insertInto('workflow_dependencies').values(some).execute();
  }
}

export const changeTask = (db: Db, workspace: string, id: string, values: Partial<WorkflowTaskRow>) =>
  changeRows(db, 'workflow_tasks', { workspace_id: workspace, id }, values);

/** The task is completed or skipped: whoever waited for it waits for one less. */
export async function satisfyDependents(db: Db, workspace: string, taskId: string): Promise<void> {
  await db
    .updateTable('workflow_tasks')
    .set((eb) => ({ open_dependencies: eb('open_dependencies', '-', 1) }))
    .where('workspace_id', '=', workspace)
    .where('id', 'in', (eb) => eb.selectFrom('workflow_dependencies').select('task_id').where('workspace_id', '=', workspace).where('depends_on', '=', taskId))
    .execute();
}

/** A sequence is a 32-bit integer: PostgreSQL refuses to compare it with more. */
const LAST_SEQUENCE = 2_147_483_647;

/** Newest first. */
export async function newestCheckpoints(db: Db, workspace: string, taskId: string, limit: number, before = LAST_SEQUENCE): Promise<CheckpointRow[]> {
  return await db
    .selectFrom('checkpoints')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('task_id', '=', taskId)
    .where('sequence', '<', before)
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute();
}

/** The workflow of a task: so that the two can be asked for at once. */
export const findWorkflowOf = (db: Db, workspace: string, taskId: string): Promise<WorkflowRow | undefined> =>
  matching(db, 'workflows', { workspace_id: workspace })
    .selectAll()
    .where('id', '=', workflowIdOf(db, workspace, taskId))
    .executeTakeFirst();

const workflowIdOf = (db: Db, workspace: string, taskId: string) =>
  db.selectFrom('workflow_tasks as known').select('known.workflow_id').where('known.workspace_id', '=', workspace).where('known.id', '=', taskId);

/** As `claimedCount`, of the workflow of this task. */
export async function claimedBeside(db: Db, workspace: string, taskId: string): Promise<number> {
  const row = await db
    .selectFrom('workflow_tasks')
    .select((eb) => eb.fn.countAll<number>().as('claimed'))
    .where('workspace_id', '=', workspace)
    .where('workflow_id', '=', workflowIdOf(db, workspace, taskId))
    .where('assigned_agent_id', 'is not', null)
    .executeTakeFirstOrThrow();
  return Number(row.claimed);
}

/** How many tasks of the workflow somebody holds. */
export async function claimedCount(db: Db, workspace: string, workflowId: string): Promise<number> {
  const row = await db
    .selectFrom('workflow_tasks')
    .select((eb) => eb.fn.countAll<number>().as('claimed'))
    .where('workspace_id', '=', workspace)
    .where('workflow_id', '=', workflowId)
    .where('assigned_agent_id', 'is not', null)
    .executeTakeFirstOrThrow();
  return Number(row.claimed);
}

export async function requireWorkflow(db: Db, workspace: string, id: string, field = 'id'): Promise<WorkflowRow> {
  const row = await findWorkflow(db, workspace, id);
  if (row) return row;
  throw notFound('WORKFLOW_NOT_FOUND', `There is no workflow ${JSON.stringify(id)} in this workspace.`, 'workflow_list names those there are.', field);
}

export async function requireTask(db: Db, workspace: string, id: string, field = 'task_id'): Promise<WorkflowTaskRow> {
  return requireFound(await findTask(db, workspace, id), id, field);
}

/** `task` is what was found under that id. */
export function requireFound(task: WorkflowTaskRow | undefined, id: string, field = 'task_id'): WorkflowTaskRow {
  if (task) return task;
  throw notFound(
    'TASK_NOT_FOUND',
    `There is no task ${JSON.stringify(id)} in this workspace.`,
    'workflow_get with include_tasks names those of a workflow.',
    field,
  );
}

export function requireNotEnded(workflow: WorkflowRow): void {
  if (!isEnded(workflow.status)) return;
  throw invalidState(`Workflow ${JSON.stringify(workflow.name)} is ${workflow.status}: its tasks stay as they are.`, 'Work on another workflow.', {
    workflow_id: workflow.id,
    status: workflow.status,
  });
}

/** New work is taken up only where the workflow runs, or is ready to. */
export function requireRunning(workflow: WorkflowRow): void {
  if (isOneOf(OPEN_WORKFLOW, workflow.status)) return;
  const next =
    workflow.status === 'planning' ? 'Set its plan with workflow_set_plan.' : 'Set it to in_progress with workflow_update_status, if that is allowed.';
  throw invalidState(`Workflow ${JSON.stringify(workflow.name)} is ${workflow.status}: no task of it can be taken up.`, next, {
    workflow_id: workflow.id,
    status: workflow.status,
  });
}

export interface ClaimProof {
  readonly agent_id?: string | undefined;
  readonly fence?: number | undefined;
}

/** The words do not say who has the task: `assigned_agent_id` does, to those who may know. */
const notAssigned = (task: WorkflowTaskRow, message: string): Refusal =>
  new Refusal('NOT_ASSIGNED', message, 'Work on a task of your own: task_get_available lists what is free.', {
    field: 'agent_id',
    task_id: task.id,
    assigned_agent_id: task.assigned_agent_id,
  });

const lapsed = (task: WorkflowTaskRow, agentId: string): Refusal =>
  new Refusal(
    'STALE_CLAIM',
    `Agent ${agentId} is offline: it left, or was silent for too long, and whatever it had claimed is no longer its own.`,
    'Register again, claim the task anew and load its context.',
    { field: 'agent_id', task_id: task.id, current_fence: task.fence },
  );

/** An agent that has gone does not know that it lost the task. Only what it had said in time it may say again: then the fence still is its own, or the task was completed by it. */
function requireStillThere(task: WorkflowTaskRow, agent: AgentRow, fence: number | undefined, now: number): void {
  if (fence === undefined && task.completed_by !== agent.id && statusAt(agent, now) === 'offline') throw lapsed(task, agent.id);
}

/**
 * Who writes to a claimed task must hold it; to one that nobody holds anybody may. Returns in whose name the write is made.
 * `named` is the agent that is named, if it has been read already. Whoever writes is alive: the write renews the lease as a heartbeat does.
 */
export async function requireHold(tx: Tx, ctx: WriteContext, task: WorkflowTaskRow, writer: ClaimProof, named?: AgentRow): Promise<string | null> {
  if (writer.fence !== undefined && writer.fence !== task.fence) {
    throw new Refusal(
      'STALE_CLAIM',
      `Fence ${writer.fence} is not that of the current claim: the task was released or claimed again since.`,
      'Stop working on it. Claim it anew with task_claim, and load its context again.',
      { field: 'fence', task_id: task.id, current_fence: task.fence },
    );
  }
  const { agent_id } = writer;
  const own = agent_id === undefined ? null : requireOwn(named ?? (await findAgent(tx.db, tx.workspace, agent_id)), ctx.principal, agent_id);
  const holderId = task.assigned_agent_id;
  if (holderId === null) {
    if (own) requireStillThere(task, own, writer.fence, tx.now);
    return own?.id ?? null;
  }
  if (own && own.id !== holderId) throw notAssigned(task, `Task ${JSON.stringify(task.name)} is claimed by another agent, not by ${own.id}.`);
  const holder = own ?? (await findAgent(tx.db, tx.workspace, holderId));
  if (!own && holder?.token_id !== ctx.principal.tokenId)
    throw notAssigned(task, `Task ${JSON.stringify(task.name)} is claimed by an agent that this token did not register.`);
  // The sweep is about to give it away; a late write must not win by luck.
  if (!holder || isSilent(holder, tx.now)) throw lapsed(task, holderId);
  await touchIfStale(tx, holder);
  return holderId;
}

/** The workflow with this id, or with the only id that ends so: people type the end of one. */
export async function workflowNamed(db: Db, workspace: string, tail: string): Promise<WorkflowRow> {
  return (
    (await findWorkflow(db, workspace, tail)) ?? (await findBySuffix(matching(db, 'workflows', { workspace_id: workspace }).selectAll(), tail, 'workflow'))
  );
}

/** The same for a task. By its whole id first: ends are looked for in all tasks of the workspace. */
export async function taskNamed(db: Db, workspace: string, tail: string): Promise<WorkflowTaskRow> {
  const active = matching(db, 'workflow_tasks', { workspace_id: workspace }).selectAll().where('status', '!=', 'removed');
  return (await findTask(db, workspace, tail)) ?? (await findBySuffix(active, tail, 'task'));
}

const record = json(z.record(z.string(), z.unknown()));
const strings = json(z.array(z.string()));

export const workflowRows = {
  workflows: rowRule<WorkflowRow>({
    id: idOf('wf'),
    status: oneOf(...WORKFLOW_STATUSES),
    source_type: oneOf(...SOURCE_TYPES),
    repository_path: fits(absolutePath),
    plan: record,
    max_parallel_tasks: count,
    auto_create_workspaces: flag,
  }),
  workflow_tasks: rowRule<WorkflowTaskRow>({
    id: idOf('tk'),
    workflow_id: idOf('wf'),
    estimated_complexity: oneOf(...COMPLEXITIES),
    files: strings,
    capabilities: strings,
    status: oneOf(...TASK_STATUSES, 'removed'),
    open_dependencies: count,
    plan: record,
    context: record,
    outcome_detail: record,
    assigned_agent_id: idOf('ag'),
    fence: count,
    worktree_id: idOf('ws'),
    resume_status: oneOf('planning', 'in_progress'),
    indexed: flag,
  }),
  workflow_dependencies: rowRule<WorkflowDependencyRow>({ workflow_id: idOf('wf'), task_id: idOf('tk'), depends_on: idOf('tk') }),
  checkpoints: rowRule<CheckpointRow>({ task_id: idOf('tk'), id: idOf('cp'), type: oneOf(...CHECKPOINT_TYPES), detail: record, files_changed: strings }),
} satisfies Partial<RowRules>;
