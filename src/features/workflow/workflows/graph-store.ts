import { sql } from 'kysely';
import type { Db } from '../../../storage/engine.ts';
import { chunks, countRows, deleteRows } from '../../../storage/rows.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { SATISFIED } from './lifecycle.ts';
import { activeTasks } from './store.ts';

const IDS_AT_ONCE = 500;

type Dependency = Pick<WorkflowTaskRow, 'id' | 'name' | 'status' | 'open_dependencies'> & { readonly task_id: string };

/** Returns the dependencies of each task, in plan order. */
export async function dependenciesOf(db: Db, workspace: string, taskIds: readonly string[]): Promise<Map<string, Dependency[]>> {
  const found: Dependency[] = [];
  for (const some of chunks(taskIds, IDS_AT_ONCE)) {
    const rows = await dependencies(db, workspace, some).execute();
    for (const row of rows) found.push(row);
  }
  return Map.groupBy(found, ({ task_id }) => task_id);
}

export async function dependencyNames(db: Db, workspace: string, taskIds: readonly string[]): Promise<Map<string, string[]>> {
  const found = await dependenciesOf(db, workspace, taskIds);
  return new Map([...found].map(([task, all]) => [task, all.map(({ name }) => name)]));
}

export async function dependenciesWithOutcomes(db: Db, workspace: string, taskId: string): Promise<(Dependency & Pick<WorkflowTaskRow, 'outcome'>)[]> {
  return await dependencies(db, workspace, [taskId]).select('dependency.outcome').execute();
}

const dependencies = (db: Db, workspace: string, taskIds: readonly string[]) =>
  db
    .selectFrom('workflow_dependencies as edge')
    .innerJoin('workflow_tasks as dependency', (join) =>
      join.onRef('dependency.workspace_id', '=', 'edge.workspace_id').onRef('dependency.id', '=', 'edge.depends_on'),
    )
    .select(['edge.task_id', 'dependency.id', 'dependency.name', 'dependency.status', 'dependency.open_dependencies'])
    .where('edge.workspace_id', '=', workspace)
    .where('edge.task_id', 'in', taskIds)
    .orderBy('dependency.sequence')
    .orderBy('dependency.name');

export const countTasks = (db: Db, { workspace_id, id }: WorkflowRow): Promise<number> =>
  countRows(db, 'workflow_tasks', { workspace_id, workflow_id: id, status: { '!=': 'removed' } });

export const countEdges = (db: Db, { workspace_id, id }: WorkflowRow): Promise<number> =>
  countRows(db, 'workflow_dependencies', { workspace_id, workflow_id: id });

/** The highest sequence in the workflow, or 0 if it has no tasks. */
export async function lastSequence(db: Db, workflow: WorkflowRow): Promise<number> {
  return (await activeTasks(db, workflow).select('sequence').orderBy('sequence', 'desc').limit(1).executeTakeFirst())?.sequence ?? 0;
}

/** The tasks of the workflow with one of these names or ids. */
export async function tasksNamed(db: Db, workflow: WorkflowRow, refs: readonly string[]): Promise<WorkflowTaskRow[]> {
  const found = new Map<string, WorkflowTaskRow>();
  for (const some of chunks(refs, IDS_AT_ONCE)) {
    for (const column of ['name', 'id'] as const) {
      for (const row of await activeTasks(db, workflow).selectAll().where(column, 'in', some).execute()) found.set(row.id, row);
    }
  }
  return [...found.values()];
}

/**
 * Reads all edges of the workflow at once, so that callers can follow the edges in memory. A recursive query would be slow: the database has no
 * statistics for a new graph, so it may scan all edges at every step.
 */
export async function edgesOf(db: Db, { workspace_id, id }: WorkflowRow): Promise<{ task_id: string; depends_on: string }[]> {
  return await db
    .selectFrom('workflow_dependencies')
    .select(['task_id', 'depends_on'])
    .where('workspace_id', '=', workspace_id)
    .where('workflow_id', '=', id)
    .execute();
}

export async function namesOf(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const some of chunks(ids, IDS_AT_ONCE)) {
    const rows = await db.selectFrom('workflow_tasks').select(['id', 'name']).where('workspace_id', '=', workspace).where('id', 'in', some).execute();
    for (const row of rows) names.set(row.id, row.name);
  }
  return names;
}

export async function waitForOneMore(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.db
    .updateTable('workflow_tasks')
    .set((eb) => ({ open_dependencies: eb('open_dependencies', '+', 1), updated_at: tx.now }))
    .where('workspace_id', '=', tx.workspace)
    .where('id', 'in', ids)
    .execute();
}

export async function countDependents(db: Db, workspace: string, taskId: string): Promise<{ dependents: number; dependencies: number }> {
  const dependents = await countRows(db, 'workflow_dependencies', { workspace_id: workspace, depends_on: taskId });
  return { dependents, dependencies: await countRows(db, 'workflow_dependencies', { workspace_id: workspace, task_id: taskId }) };
}

/** Call this after a task was removed. The tasks that waited for it now wait for its dependencies. All edges from and to the removed task are deleted. */
export async function rewireDependents(tx: Tx, task: Pick<WorkflowTaskRow, 'id'>): Promise<void> {
  const { db, workspace } = tx;
  await sql`
    insert into workflow_dependencies (workspace_id, workflow_id, task_id, depends_on)
    select waiting.workspace_id, waiting.workflow_id, waiting.task_id, own.depends_on
    from workflow_dependencies as waiting
    join workflow_dependencies as own on own.workspace_id = waiting.workspace_id and own.task_id = waiting.depends_on
    where waiting.workspace_id = ${workspace} and waiting.depends_on = ${task.id}
    on conflict do nothing`.execute(db);
  await db
    .updateTable('workflow_tasks')
    .set((eb) => ({
      updated_at: tx.now,
      open_dependencies: eb
        .selectFrom('workflow_dependencies as edge')
        .innerJoin('workflow_tasks as dependency', (join) =>
          join.onRef('dependency.workspace_id', '=', 'edge.workspace_id').onRef('dependency.id', '=', 'edge.depends_on'),
        )
        .select(({ fn }) => fn.countAll<number>().as('open'))
        .whereRef('edge.workspace_id', '=', 'workflow_tasks.workspace_id')
        .whereRef('edge.task_id', '=', 'workflow_tasks.id')
        .where('dependency.status', 'not in', [...SATISFIED, 'removed']),
    }))
    .where('workspace_id', '=', workspace)
    .where('id', 'in', (eb) => eb.selectFrom('workflow_dependencies').select('task_id').where('workspace_id', '=', workspace).where('depends_on', '=', task.id))
    .execute();
  await deleteRows(db, 'workflow_dependencies', { workspace_id: workspace, task_id: task.id });
  await deleteRows(db, 'workflow_dependencies', { workspace_id: workspace, depends_on: task.id });
}
