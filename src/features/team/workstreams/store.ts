import { findBySuffix } from '../../../kernel/tail.ts';
import type { Db } from '../../../storage/engine.ts';
import { findRow, findRows, matching, rowsById } from '../../../storage/rows.ts';
import type { WorkstreamRow } from '../../../storage/schema-rows.ts';
import type { WorkStatus } from './lifecycle.ts';
import { OPEN, RUNNING } from './lifecycle.ts';

export const findWorkstream = (db: Db, workspace: string, id: string): Promise<WorkstreamRow | undefined> =>
  findRow(db, 'workstreams', { workspace_id: workspace, id });

export async function titlesOf(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await rowsById(db, 'workstreams', workspace, ids);
  return new Map(Array.from(rows, ([id, { title }]) => [id, title]));
}

/** Where a task of this developer could belong, newest first. */
export const runningWorkstreams = (db: Db, workspace: string, developerId: string, limit: number): Promise<WorkstreamRow[]> =>
  findRows(db, 'workstreams', { workspace_id: workspace, developer_id: developerId, status: RUNNING }, { order: { id: 'desc' }, limit });

export const workstreamsBy = (db: Db, workspace: string, statuses: readonly WorkStatus[], limit: number): Promise<WorkstreamRow[]> =>
  findRows(db, 'workstreams', { workspace_id: workspace, status: statuses }, { order: { updated_at: 'desc', id: 'desc' }, limit });

export async function openTaskIds(db: Db, workspace: string, workstreamId: string): Promise<string[]> {
  const rows = await matching(db, 'tasks', { workspace_id: workspace, workstream_id: workstreamId, status: OPEN }).select('id').execute();
  // Sorted here: asked for in order, SQLite would read every task of the workspace in that order instead.
  return rows.map(({ id }) => id).sort();
}

export async function countTasksIn(db: Db, workspace: string, workstreamId: string): Promise<{ all: number; open: number }> {
  const rows = await db
    .selectFrom('tasks')
    .select(['status', (eb) => eb.fn.countAll<string | number>().as('count')])
    .where('workspace_id', '=', workspace)
    .where('workstream_id', '=', workstreamId)
    .groupBy('status')
    .execute();
  const sum = (some: typeof rows): number => some.reduce((all, { count }) => all + Number(count), 0);
  return { all: sum(rows), open: sum(rows.filter(({ status }) => OPEN.some((open) => open === status))) };
}

export const workstreamNamed = (db: Db, workspace: string, tail: string): Promise<WorkstreamRow> =>
  findBySuffix(matching(db, 'workstreams', { workspace_id: workspace }).selectAll(), tail, 'workstream');

export const plannedWithTitle = (db: Db, workspace: string, developerId: string, title: string): Promise<WorkstreamRow | undefined> =>
  findRow(db, 'workstreams', { workspace_id: workspace, developer_id: developerId, status: 'planned', title }, { id: 'desc' });
