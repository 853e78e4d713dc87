import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import { GROUPS_SHOWN, NEIGHBOURS_SHOWN, type progressOf } from './contract.ts';
import { dependenciesOf } from './graph-store.ts';
import { isEnded, isSatisfied, OPEN_TASK, SATISFIED, shownStatus, TASK_STATUSES, type TaskStatus } from './lifecycle.ts';
import { activeTasks } from './store.ts';
import { fieldIfMore } from './views.ts';

type Progress = Output<typeof progressOf>;
type Counts = Record<TaskStatus, number>;

const BLOCKED_SHOWN = 100;

/** The database counts the tasks. Only the tasks that are listed in the answer are read, even if the graph is large. */
export async function progress(db: Db, workflow: WorkflowRow, now: number): Promise<Progress> {
  const counts = await countByStatus(db, workflow);
  const total = TASK_STATUSES.reduce((sum, status) => sum + counts[status], 0);
  const remaining = total - counts.completed - counts.skipped;
  return {
    workflow_status: workflow.status,
    total_tasks: total,
    by_status: counts,
    all_complete: total > 0 && remaining === 0,
    ...(await sequences(db, workflow)),
    blocked_tasks: await blockedTasks(db, workflow),
    ...fieldIfMore('blocked_tasks_more', counts.blocked - BLOCKED_SHOWN),
    ...(await groups(db, workflow)),
    estimated_remaining: remaining,
    estimated_remaining_ms: remainingMs(workflow, counts.completed, remaining, now),
  };
}

/** Returns whether the workflow has tasks and all of them are completed or skipped. */
export async function allComplete(db: Db, workflow: WorkflowRow): Promise<boolean> {
  const one = (statuses: readonly WorkflowTaskRow['status'][]) => activeTasks(db, workflow).select('id').where('status', 'in', statuses).limit(1).execute();
  return (await one(OPEN_TASK)).length === 0 && (await one(SATISFIED)).length > 0;
}

/**
 * Estimates the remaining time from the number of tasks that were completed since the work began. Returns null if the workflow has ended, or if no
 * task is completed yet.
 */
function remainingMs({ started_at, status }: Pick<WorkflowRow, 'started_at' | 'status'>, completed: number, remaining: number, now: number): number | null {
  if (remaining === 0) return 0;
  if (isEnded(status) || started_at === null || completed === 0) return null;
  return Math.round((Math.max(0, now - started_at) / completed) * remaining);
}

const noTasks = (): Counts => Object.fromEntries(TASK_STATUSES.map((status) => [status, 0])) as Counts;

export interface WorkflowCounts {
  readonly by_status: Counts;
  /** Time of the last change to a task of the workflow, or 0 if the workflow has no tasks. */
  changed_at: number;
}

/** The counts of several workflows in one query. */
export async function countsByWorkflow(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, WorkflowCounts>> {
  const all = new Map(ids.map((id): [string, WorkflowCounts] => [id, { by_status: noTasks(), changed_at: 0 }]));
  if (ids.length === 0) return all;
  const rows = await db
    .selectFrom('workflow_tasks')
    .select(['workflow_id', 'status', 'open_dependencies', (eb) => eb.fn.countAll<number>().as('tasks'), (eb) => eb.fn.max('updated_at').as('changed_at')])
    .where('workspace_id', '=', workspace)
    .where('workflow_id', 'in', ids)
    .where('status', '!=', 'removed')
    .groupBy(['workflow_id', 'status', 'open_dependencies'])
    .execute();
  for (const { workflow_id, tasks, changed_at, ...row } of rows) {
    const counts = all.get(workflow_id) as WorkflowCounts;
    counts.by_status[shownStatus(row)] += Number(tasks);
    counts.changed_at = Math.max(counts.changed_at, Number(changed_at));
  }
  return all;
}

export async function countByStatus(db: Db, workflow: WorkflowRow): Promise<Counts> {
  const counts = noTasks();
  const rows = await activeTasks(db, workflow)
    .select(['status', 'open_dependencies', (eb) => eb.fn.countAll<number>().as('tasks')])
    .groupBy(['status', 'open_dependencies'])
    .execute();
  for (const { tasks, ...row } of rows) counts[shownStatus(row)] += Number(tasks);
  return counts;
}

async function sequences(db: Db, workflow: WorkflowRow): Promise<Pick<Progress, 'completed_sequence' | 'current_sequence'>> {
  const tasks = activeTasks(db, workflow);
  const open = await tasks.select('sequence').where('status', 'not in', SATISFIED).orderBy('sequence').limit(1).executeTakeFirst();
  const done = open ? tasks.where('sequence', '<', open.sequence) : tasks;
  const last = await done.select('sequence').orderBy('sequence', 'desc').limit(1).executeTakeFirst();
  const completed = last?.sequence ?? 0;
  return { completed_sequence: completed, current_sequence: open?.sequence ?? completed };
}

async function blockedTasks(db: Db, workflow: WorkflowRow): Promise<Progress['blocked_tasks']> {
  // The index contains the names of blocked tasks. The tasks are then looked up by name, because names are unique within a workflow.
  const first = activeTasks(db, workflow)
    .select(['sequence', 'name'])
    .where('status', '=', 'pending')
    .where('open_dependencies', '>', 0)
    .orderBy('sequence')
    .orderBy('name')
    .limit(BLOCKED_SHOWN);
  const names = (await first.execute()).map(({ name }) => name);
  if (names.length === 0) return [];
  const rows = await activeTasks(db, workflow).select(['id', 'name', 'sequence']).where('name', 'in', names).execute();
  const place = new Map(names.map((name, index) => [name, index]));
  rows.sort((one, other) => (place.get(one.name) as number) - (place.get(other.name) as number));
  const ids = rows.map(({ id }) => id);
  const dependencies = await dependenciesOf(db, workflow.workspace_id, ids);
  return rows.map(({ id, name }) => {
    const waitsFor = (dependencies.get(id) ?? []).filter(({ status }) => !isSatisfied(status)).map((dependency) => dependency.name);
    return { id, name, blocked_by: waitsFor.slice(0, NEIGHBOURS_SHOWN), ...fieldIfMore('blocked_by_more', waitsFor.length - NEIGHBOURS_SHOWN) };
  });
}

async function groups(db: Db, workflow: WorkflowRow): Promise<Pick<Progress, 'parallel_groups' | 'parallel_groups_more'>> {
  const rows = await activeTasks(db, workflow)
    .select(({ fn, eb }) => [
      'parallel_group',
      fn.countAll<number>().as('task_count'),
      fn.sum<number>(eb.case().when('status', 'in', SATISFIED).then(1).else(0).end()).as('completed'),
    ])
    .where('parallel_group', 'is not', null)
    .groupBy('parallel_group')
    .orderBy('parallel_group')
    .execute();
  const shown = rows.slice(0, GROUPS_SHOWN).map(({ parallel_group, task_count, completed }) => ({
    group_id: String(parallel_group),
    task_count: Number(task_count),
    completed: Number(completed),
  }));
  return { parallel_groups: shown, ...fieldIfMore('parallel_groups_more', rows.length - GROUPS_SHOWN) };
}
