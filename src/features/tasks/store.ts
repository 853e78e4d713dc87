import type { Db } from '../../storage/engine.ts';
import { RUNNING } from '../workstreams/index.ts';
import type { TaskRow } from './tables.ts';

export async function findTask(db: Db, workspace: string, id: string): Promise<TaskRow | undefined> {
  return await db.selectFrom('tasks').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

export async function insertTask(db: Db, row: TaskRow): Promise<void> {
  await db.insertInto('tasks').values(row).execute();
}

export async function changeTask(db: Db, workspace: string, id: string, values: Partial<TaskRow>): Promise<void> {
  await db.updateTable('tasks').set(values).where('workspace_id', '=', workspace).where('id', '=', id).execute();
}

export interface TaskPage {
  readonly statuses?: readonly TaskRow['status'][] | undefined;
  readonly developerId?: string | undefined;
  readonly before?: { updated_at: number; task_id: string } | undefined;
  readonly limit: number;
}

/** Last changed first. */
export async function tasksBy(db: Db, workspace: string, page: TaskPage): Promise<TaskRow[]> {
  let query = db.selectFrom('tasks').selectAll().where('workspace_id', '=', workspace);
  const { statuses, developerId, before } = page;
  if (statuses) query = query.where('status', 'in', statuses);
  if (developerId) query = query.where('developer_id', '=', developerId);
  if (before) {
    query = query.where((eb) =>
      eb.or([eb('updated_at', '<', before.updated_at), eb.and([eb('updated_at', '=', before.updated_at), eb('id', '<', before.task_id)])]),
    );
  }
  return await query.orderBy('updated_at', 'desc').orderBy('id', 'desc').limit(page.limit).execute();
}

/** What this agent session is at work on; without a session, what this agent is at work on, where that is one thing. */
export async function runningTasksOf(db: Db, workspace: string, worker: { sessionId: string | null; actor: string }): Promise<TaskRow[]> {
  const running = db.selectFrom('tasks').selectAll().where('workspace_id', '=', workspace).where('status', 'in', RUNNING);
  if (worker.sessionId) return await running.where('session_id', '=', worker.sessionId).limit(20).execute();
  const own = await running.where('actor', '=', worker.actor).limit(2).execute();
  return own.length === 1 ? own : [];
}

export async function orphanTasks(db: Db, limit: number): Promise<TaskRow[]> {
  return await db.selectFrom('tasks').selectAll().where('workstream_id', 'is', null).orderBy('workspace_id').orderBy('id').limit(limit).execute();
}
