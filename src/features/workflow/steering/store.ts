import { z } from 'zod';
import type { Db } from '../../../storage/engine.ts';
import { eventsAbout } from '../../../storage/journal.ts';
import { chunks, countRows, pageOf, readJson } from '../../../storage/rows.ts';
import { activeTasks, type WorkflowRow, type WorkflowTaskRow } from '../workflows/index.ts';
import { SPAN_KINDS, type TaskHappening } from './spans.ts';

const DRAWN = ['id', 'name', 'status', 'open_dependencies', 'sequence', 'parallel_group', 'assigned_agent_id', 'question_id'] as const;
export type GraphTask = Pick<WorkflowTaskRow, (typeof DRAWN)[number]>;

export async function graphTasks(db: Db, workflow: WorkflowRow): Promise<GraphTask[]> {
  return await activeTasks(db, workflow).select(DRAWN).orderBy('sequence').orderBy('name').execute();
}

export type OpenTask = Pick<WorkflowTaskRow, 'id' | 'name' | 'status' | 'open_dependencies'>;

/** Returns all tasks that are neither completed nor skipped. Only these can block other tasks. */
export async function unfinishedTasks(db: Db, workflow: Pick<WorkflowRow, 'workspace_id' | 'id'>): Promise<OpenTask[]> {
  return await activeTasks(db, workflow).select(['id', 'name', 'status', 'open_dependencies']).where('status', 'not in', ['completed', 'skipped']).execute();
}

/** Returns the tasks that depend on this task, in plan order. If more than `limit` exist, returns one more than `limit`, so that the caller can see this. */
export async function dependentsOf(db: Db, workspace: string, taskId: string, limit: number): Promise<OpenTask[]> {
  return await db
    .selectFrom('workflow_dependencies as edge')
    .innerJoin('workflow_tasks as task', (join) => join.onRef('task.workspace_id', '=', 'edge.workspace_id').onRef('task.id', '=', 'edge.task_id'))
    .select(['task.id', 'task.name', 'task.status', 'task.open_dependencies'])
    .where('edge.workspace_id', '=', workspace)
    .where('edge.depends_on', '=', taskId)
    .where('task.status', '!=', 'removed')
    .orderBy('task.sequence')
    .orderBy('task.name')
    .limit(limit + 1)
    .execute();
}

export const countDependents = (db: Db, workspace: string, taskId: string): Promise<number> =>
  countRows(db, 'workflow_dependencies', { workspace_id: workspace, depends_on: taskId });

/** Returns tasks that were claimed or started at least once, most recently changed first. */
export const takenUpTasks = (db: Db, workflow: WorkflowRow, limit: number): Promise<{ rows: { id: string; name: string }[]; total: number }> =>
  pageOf(
    activeTasks(db, workflow)
      .where((eb) => eb.or([eb('fence', '>', 0), eb('started_at', 'is not', null), eb('status', '=', 'planning')]))
      .select(['id', 'name'])
      .orderBy('updated_at', 'desc')
      .orderBy('id'),
    { limit, offset: 0 },
  );

const IDS_AT_ONCE = 250;
const payloadSchema = z.object({ agent_id: z.string().nullish(), to: z.string().nullish(), reason: z.string().nullish() });

/** Returns the events about claims of these tasks, oldest first. If there are more than `limit`, returns only the newest. */
export async function happeningsOf(db: Db, workspace: string, taskIds: readonly string[], limit: number): Promise<TaskHappening[]> {
  const found: (TaskHappening & { seq: number })[] = [];
  for (const some of chunks(taskIds, IDS_AT_ONCE)) {
    const rows = await eventsAbout(db, workspace, some)
      .select(['seq', 'kind', 'subject', 'time', 'payload'])
      .where('kind', 'in', SPAN_KINDS)
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute();
    for (const { seq, kind, subject, time, payload } of rows) {
      const { agent_id = null, to = null, reason = null } = readJson(payloadSchema, payload);
      found.push({ seq, kind, time, task_id: subject as string, agent_id, to, reason });
    }
  }
  return found.sort((one, other) => one.seq - other.seq).slice(-limit);
}

/** The status changes of the workflow itself, oldest first. */
export async function statusChangesOf(db: Db, workflow: WorkflowRow, limit: number): Promise<{ time: number; to: string; reason: string | null }[]> {
  const rows = await eventsAbout(db, workflow.workspace_id, [workflow.id])
    .select(['time', 'payload'])
    .where('kind', '=', 'workflow.status_changed')
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.reverse().map(({ time, payload }) => {
    const { to, reason } = readJson(payloadSchema, payload);
    return { time, to: to ?? '', reason: reason ?? null };
  });
}
