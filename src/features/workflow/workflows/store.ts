import { findBySuffix } from '../../../kernel/find-by-suffix.ts';
import { invalidState, notFound } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, countRows, findRow, matching } from '../../../storage/rows.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import { isEnded, isOneOf, OPEN_WORKFLOW, WORKFLOW_MACHINE } from './lifecycle.ts';

export const findWorkflow = (db: Db, workspace: string, id: string) => findRow(db, 'workflows', { workspace_id: workspace, id });

export const changeWorkflow = (db: Db, workspace: string, id: string, values: Partial<WorkflowRow>) =>
  changeRows(db, 'workflows', { workspace_id: workspace, id }, values);

export const findTask = (db: Db, workspace: string, id: string): Promise<WorkflowTaskRow | undefined> =>
  findRow(db, 'workflow_tasks', { workspace_id: workspace, id, status: { '!=': 'removed' } });

/** Returns a query for all tasks of a workflow except removed tasks. Callers add further conditions. */
export const activeTasks = (db: Db, { workspace_id, id }: Pick<WorkflowRow, 'workspace_id' | 'id'>) =>
  db
    .selectFrom('workflow_tasks')
    .where('workflow_tasks.workspace_id', '=', workspace_id)
    .where('workflow_tasks.workflow_id', '=', id)
    .where('workflow_tasks.status', '!=', 'removed');

export const changeTask = (db: Db, workspace: string, id: string, values: Partial<WorkflowTaskRow>) =>
  changeRows(db, 'workflow_tasks', { workspace_id: workspace, id }, values);

/** Call this when a task is completed or skipped. Each task that depends on it then waits for one task less. */
export async function satisfyDependents(db: Db, workspace: string, taskId: string): Promise<void> {
  await db
    .updateTable('workflow_tasks')
    .set((eb) => ({ open_dependencies: eb('open_dependencies', '-', 1) }))
    .where('workspace_id', '=', workspace)
    .where('id', 'in', (eb) => eb.selectFrom('workflow_dependencies').select('task_id').where('workspace_id', '=', workspace).where('depends_on', '=', taskId))
    .execute();
}

/** Finds a workflow by the id of one of its tasks, so that the task and its workflow can be read at the same time. */
export const findWorkflowOf = (db: Db, workspace: string, taskId: string): Promise<WorkflowRow | undefined> =>
  matching(db, 'workflows', { workspace_id: workspace })
    .selectAll()
    .where('id', '=', workflowIdOf(db, workspace, taskId))
    .executeTakeFirst();

const workflowIdOf = (db: Db, workspace: string, taskId: string) =>
  db.selectFrom('workflow_tasks as known').select('known.workflow_id').where('known.workspace_id', '=', workspace).where('known.id', '=', taskId);

/** Like `claimedCount`, but for the workflow to which this task belongs. */
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

/** Returns the number of claimed tasks in the workflow. */
export const claimedCount = (db: Db, workspace: string, workflowId: string): Promise<number> =>
  countRows(db, 'workflow_tasks', { workspace_id: workspace, workflow_id: workflowId, assigned_agent_id: { '!=': null } });

export async function requireWorkflow(db: Db, workspace: string, id: string, field = 'id'): Promise<WorkflowRow> {
  const row = await findWorkflow(db, workspace, id);
  if (row) return row;
  throw notFound(
    'WORKFLOW_NOT_FOUND',
    `Workflow ${JSON.stringify(id)} does not exist in this workspace.`,
    'Call workflow_list to see the ids of workflows.',
    field,
  );
}

export async function requireTask(db: Db, workspace: string, id: string, field = 'task_id'): Promise<WorkflowTaskRow> {
  return requireFound(await findTask(db, workspace, id), id, field);
}

/** Refuses if `task` is undefined, which means that no task with this id exists. */
export function requireFound(task: WorkflowTaskRow | undefined, id: string, field = 'task_id'): WorkflowTaskRow {
  if (task) return task;
  throw notFound(
    'TASK_NOT_FOUND',
    `Task ${JSON.stringify(id)} does not exist in this workspace.`,
    'Call workflow_list, then workflow_get with the id of a workflow and include_tasks true, to see task ids.',
    field,
  );
}

export function requireNotEnded(workflow: WorkflowRow): void {
  if (!isEnded(workflow.status)) return;
  throw invalidState(
    `Workflow ${JSON.stringify(workflow.name)} is ${workflow.status}: its tasks cannot change.`,
    'Work on another workflow: call workflow_list.',
    {
      workflow_id: workflow.id,
      status: workflow.status,
    },
  );
}

/** Tasks can be claimed only in a workflow that is ready or in progress. */
export function requireRunning(workflow: WorkflowRow): void {
  if (isOneOf(OPEN_WORKFLOW, workflow.status)) return;
  const next =
    workflow.status === 'planning'
      ? `Set its plan: workflow_set_plan with id "${workflow.id}" and a plan.`
      : WORKFLOW_MACHINE[workflow.status].includes('in_progress')
        ? `To resume it, call workflow_update_status with id "${workflow.id}" and status "in_progress".`
        : 'Work on another workflow: call workflow_list.';
  throw invalidState(`Workflow ${JSON.stringify(workflow.name)} is ${workflow.status}, so its tasks cannot be claimed or planned.`, next, {
    workflow_id: workflow.id,
    status: workflow.status,
  });
}

/** Finds a workflow by its id or by the end of its id, because people type only the end. Only one id may end like this. */
export const workflowNamed = (db: Db, workspace: string, tail: string): Promise<WorkflowRow> =>
  findBySuffix(matching(db, 'workflows', { workspace_id: workspace }).selectAll(), tail, 'workflow');

/** Like `workflowNamed`, but finds a task. */
export const taskNamed = (db: Db, workspace: string, tail: string): Promise<WorkflowTaskRow> =>
  findBySuffix(matching(db, 'workflow_tasks', { workspace_id: workspace, status: { '!=': 'removed' } }).selectAll(), tail, 'task');
