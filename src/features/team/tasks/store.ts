import { agentTypeOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/call.ts';
import { findBySuffix } from '../../../kernel/find-by-suffix.ts';
import { calledRepository } from '../../../kernel/like.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, findRows, matching, readJson, rowsById, view } from '../../../storage/rows.ts';
import type { TaskRow, WorkstreamRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type Viewer, viewerOf } from '../../core/identity/index.ts';
import { overlapsOf } from '../overlap/index.ts';
import { type ShownTask, type TaskView, taskView } from './contract.ts';
import { OPEN, RUNNING, type WorkStatus } from './lifecycle.ts';

export const findTask = (db: Db, workspace: string, id: string): Promise<TaskRow | undefined> => findRow(db, 'tasks', { workspace_id: workspace, id });

export const changeTask = (tx: Tx, id: string, values: Partial<TaskRow>) =>
  changeRows(tx.db, 'tasks', { workspace_id: tx.workspace, id }, { ...values, updated_at: tx.now });

export async function ownsTask(db: Db, workspace: string, developerId: string, id: string): Promise<boolean> {
  return (await findTask(db, workspace, id))?.developer_id === developerId;
}

export const taskNamed = (db: Db, workspace: string, tail: string): Promise<TaskRow> =>
  findBySuffix(matching(db, 'tasks', { workspace_id: workspace }).selectAll(), tail, 'task');

interface TaskFilter {
  readonly statuses?: readonly TaskRow['status'][] | undefined;
  readonly developerId?: string | undefined;
  readonly workstreamId?: string | undefined;
  /** Name of the repository in any form that people use for it. */
  readonly repository?: string | undefined;
}

interface TaskPageQuery extends TaskFilter {
  readonly before?: { updated_at: number; task_id: string } | undefined;
  readonly limit: number;
}

function fitting(db: Db, workspace: string, { statuses, developerId, workstreamId, repository }: TaskFilter) {
  let query = db.selectFrom('tasks').where('workspace_id', '=', workspace);
  if (statuses) query = query.where('status', 'in', statuses);
  // There is a dedicated index on open work. This condition lets the database use it.
  if (statuses?.every((status) => OPEN.some((open) => open === status))) query = query.where('closed_at', 'is', null);
  if (developerId) query = query.where('developer_id', '=', developerId);
  if (workstreamId) query = query.where('workstream_id', '=', workstreamId);
  if (repository) query = query.where(calledRepository('repo', repository));
  return query;
}

/** A page of tasks. The task that changed last comes first. */
export async function tasksBy(db: Db, workspace: string, { before, limit, ...filter }: TaskPageQuery): Promise<TaskRow[]> {
  let query = fitting(db, workspace, filter).selectAll();
  if (before) query = query.where(({ eb, refTuple, tuple }) => eb(refTuple('updated_at', 'id'), '<', tuple(before.updated_at, before.task_id)));
  return await query.orderBy('updated_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

/** Tasks are counted only up to this number, because nobody needs a larger number exactly. */
const MAX_COUNTED = 10_000;

/** The number of tasks that match the filter, or null if it is more than `MAX_COUNTED`. */
export async function countTasks(db: Db, workspace: string, filter: TaskFilter): Promise<number | null> {
  const some = fitting(db, workspace, filter)
    .select('id')
    .limit(MAX_COUNTED + 1);
  const { count } = await db
    .selectFrom(some.as('some'))
    .select((eb) => eb.fn.countAll<string | number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count) > MAX_COUNTED ? null : Number(count);
}

/** Developers who own at least one task. For speed, the query looks up only one task per developer. */
export async function ownersOfTasks(db: Db, workspace: string): Promise<string[]> {
  const rows = await db
    .selectFrom('developers')
    .select('id')
    .where('workspace_id', '=', workspace)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('tasks')
          .select('tasks.id')
          .whereRef('tasks.workspace_id', '=', 'developers.workspace_id')
          .whereRef('tasks.developer_id', '=', 'developers.id'),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
}

/** The running tasks of this session. Without a session, the agent's running task is returned if the agent has exactly one. */
export async function runningTasksOf(db: Db, workspace: string, worker: { sessionId: string | null; actor: string }): Promise<TaskRow[]> {
  const running = { workspace_id: workspace, status: RUNNING };
  if (worker.sessionId) return await findRows(db, 'tasks', { ...running, session_id: worker.sessionId }, { limit: 20 });
  const own = await findRows(db, 'tasks', { ...running, actor: worker.actor }, { limit: 2 });
  return own.length === 1 ? own : [];
}

/** Running tasks that belong to this session or that this agent started since `since`. The task that changed last comes first. */
export async function tasksInHand(
  db: Db,
  workspace: string,
  { sessionId, actor, since }: { sessionId: string | null; actor: string; since: number },
  limit: number,
): Promise<TaskRow[]> {
  return await db
    .selectFrom('tasks')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('status', 'in', RUNNING)
    .where('closed_at', 'is', null)
    .where((eb) => eb.or([eb('session_id', '=', sessionId ?? ''), eb.and([eb('actor', '=', actor), eb('started_at', '>=', since)])]))
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export const orphanTasks = (db: Db, limit: number): Promise<TaskRow[]> =>
  findRows(db, 'tasks', { workstream_id: null }, { order: { workspace_id: 'asc', id: 'asc' }, limit });

export const filesOf = (row: TaskRow): string[] => readJson(taskView.shape.target_files, row.target_files);

/** Converts a task to what the viewer may see of it. The result does not reveal who a private developer is. */
export const viewTask = (row: TaskRow, viewer: Viewer): TaskView =>
  view(taskView, row, {
    task_id: row.id,
    owner: viewer.name(row.developer_id),
    mine: row.developer_id === viewer.developerId,
    // The type of agent is hidden too, because it may reveal who the developer is.
    agent: viewer.sees(row.developer_id) ? agentTypeOf(row.actor) : null,
  });

/** Converts tasks to what people see, with names next to the ids. */
export async function showTasks(db: Db, workspace: string, principal: Principal, rows: readonly TaskRow[]): Promise<ShownTask[]> {
  const viewer = await viewerOf(db, principal);
  const titles = await titlesOf(db, workspace, [...new Set(rows.flatMap(({ workstream_id }) => workstream_id ?? []))]);
  const ids = rows.map(({ id }) => id);
  const overlaps = await overlapsOf(db, workspace, ids);
  return rows.map((row) => ({
    ...viewTask(row, viewer),
    agent_id: viewer.agent(row.actor, row.developer_id).agent_id,
    workstream_title: titles.get(row.workstream_id ?? '') ?? null,
    overlaps: overlaps.get(row.id) ?? { all: 0, open: 0 },
  }));
}

export async function ownsWorkstream(db: Db, workspace: string, developerId: string, id: string): Promise<boolean> {
  return (await findWorkstream(db, workspace, id))?.developer_id === developerId;
}

export const findWorkstream = (db: Db, workspace: string, id: string): Promise<WorkstreamRow | undefined> =>
  findRow(db, 'workstreams', { workspace_id: workspace, id });

export const changeWorkstream = (tx: Tx, id: string, values: Partial<WorkstreamRow>) =>
  changeRows(tx.db, 'workstreams', { workspace_id: tx.workspace, id }, { ...values, updated_at: tx.now });

export async function titlesOf(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await rowsById(db, 'workstreams', workspace, ids);
  return new Map(Array.from(rows, ([id, { title }]) => [id, title]));
}

export const workstreamsBy = (db: Db, workspace: string, statuses: readonly WorkStatus[], limit: number): Promise<WorkstreamRow[]> =>
  findRows(db, 'workstreams', { workspace_id: workspace, status: statuses }, { order: { updated_at: 'desc', id: 'desc' }, limit });

export async function openTaskIds(db: Db, workspace: string, workstreamId: string): Promise<string[]> {
  const rows = await matching(db, 'tasks', { workspace_id: workspace, workstream_id: workstreamId, status: OPEN }).select('id').execute();
  // The ids are not sorted by the query: with an ORDER BY, SQLite would read every task of the workspace in that order.
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
