import type { Db } from '../../storage/engine.ts';
import type { WorkStatus } from './lifecycle.ts';
import { OPEN, RUNNING } from './lifecycle.ts';
import type { WorkstreamRow } from './tables.ts';

export async function findWorkstream(db: Db, workspace: string, id: string): Promise<WorkstreamRow | undefined> {
  return await db.selectFrom('workstreams').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

export async function insertWorkstream(db: Db, row: WorkstreamRow): Promise<void> {
  await db.insertInto('workstreams').values(row).execute();
}

export async function changeWorkstream(db: Db, workspace: string, id: string, values: Partial<WorkstreamRow>): Promise<void> {
  await db.updateTable('workstreams').set(values).where('workspace_id', '=', workspace).where('id', '=', id).execute();
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
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
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
