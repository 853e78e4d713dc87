import { endingIn, onlyMatch } from '../../../kernel/tail.ts';
import type { Db } from '../../../storage/engine.ts';
import type { WorkstreamRow } from '../../../storage/schema-rows.ts';
import type { WorkStatus } from './lifecycle.ts';
import { OPEN, RUNNING } from './lifecycle.ts';

export async function findWorkstream(db: Db, workspace: string, id: string): Promise<WorkstreamRow | undefined> {
  return await db.selectFrom('workstreams').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

export async function insertWorkstream(db: Db, row: WorkstreamRow): Promise<void> {
  await db.insertInto('workstreams').values(row).execute();
}

export async function changeWorkstream(db: Db, workspace: string, id: string, values: Partial<WorkstreamRow>): Promise<void> {
  await db.updateTable('workstreams').set(values).where('workspace_id', '=', workspace).where('id', '=', id).execute();
}

export async function titlesOf(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('workstreams').select(['id', 'title']).where('workspace_id', '=', workspace).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, title }) => [id, title]));
}

/** Where a task of this developer could belong, newest first. */
export async function runningWorkstreams(db: Db, workspace: string, developerId: string, limit: number): Promise<WorkstreamRow[]> {
  return await db
    .selectFrom('workstreams')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('developer_id', '=', developerId)
    .where('status', 'in', RUNNING)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function workstreamsBy(db: Db, workspace: string, statuses: readonly WorkStatus[], limit: number): Promise<WorkstreamRow[]> {
  return await db
    .selectFrom('workstreams')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('status', 'in', statuses)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function openTaskIds(db: Db, workspace: string, workstreamId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('tasks')
    .select('id')
    .where('workspace_id', '=', workspace)
    .where('workstream_id', '=', workstreamId)
    .where('status', 'in', OPEN)
    .execute();
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

export async function workstreamNamed(db: Db, workspace: string, tail: string): Promise<WorkstreamRow> {
  const exact = await findWorkstream(db, workspace, tail);
  if (exact) return exact;
  const found = await endingIn(db.selectFrom('workstreams').selectAll().where('workspace_id', '=', workspace), tail);
  const id = onlyMatch(
    found.map((row) => row.id),
    tail,
    'workstream',
  );
  return found.find((row) => row.id === id) as WorkstreamRow;
}

export async function plannedWithTitle(db: Db, workspace: string, developerId: string, title: string): Promise<WorkstreamRow | undefined> {
  return await db
    .selectFrom('workstreams')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('developer_id', '=', developerId)
    .where('status', '=', 'planned')
    .where('title', '=', title)
    .orderBy('id', 'desc')
    .executeTakeFirst();
}
