import { chunks } from '../../../storage/chunks.ts';
import type { Db } from '../../../storage/engine.ts';
import type { CheckpointRow, WorkflowDependencyRow, WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';

export async function findWorkflow(db: Db, workspace: string, id: string): Promise<WorkflowRow | undefined> {
  return await db.selectFrom('workflows').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

export async function insertWorkflow(db: Db, row: WorkflowRow): Promise<void> {
  await db.insertInto('workflows').values(row).execute();
}

export async function changeWorkflow(db: Db, workspace: string, id: string, values: Partial<WorkflowRow>): Promise<void> {
  await db.updateTable('workflows').set(values).where('workspace_id', '=', workspace).where('id', '=', id).execute();
}

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

export async function changeTask(db: Db, workspace: string, id: string, values: Partial<WorkflowTaskRow>): Promise<void> {
  await db.updateTable('workflow_tasks').set(values).where('workspace_id', '=', workspace).where('id', '=', id).execute();
}

/** The task is completed or skipped: whoever waited for it waits for one less. */
export async function satisfyDependents(db: Db, workspace: string, taskId: string): Promise<void> {
  await db
    .updateTable('workflow_tasks')
    .set((eb) => ({ open_dependencies: eb('open_dependencies', '-', 1) }))
    .where('workspace_id', '=', workspace)
    .where('id', 'in', (eb) => eb.selectFrom('workflow_dependencies').select('task_id').where('workspace_id', '=', workspace).where('depends_on', '=', taskId))
    .execute();
}

export async function insertCheckpoint(db: Db, row: CheckpointRow): Promise<void> {
  await db.insertInto('checkpoints').values(row).execute();
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
export async function findWorkflowOf(db: Db, workspace: string, taskId: string): Promise<WorkflowRow | undefined> {
  return await db
    .selectFrom('workflows')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('id', '=', workflowIdOf(db, workspace, taskId))
    .executeTakeFirst();
}

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
