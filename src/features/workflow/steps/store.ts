import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../../storage/engine.ts';
import { findRows } from '../../../storage/rows.ts';
import type { Database } from '../../../storage/schema-rows.ts';
import { LEASE_MS } from '../agents/index.ts';
import { ACTIONABLE, type CheckpointRow, OPEN_WORKFLOW, SATISFIED, type WorkflowTaskRow } from '../workflows/index.ts';

export const tasksHeldBy = (db: Db, workspace: string, agentId: string): Promise<WorkflowTaskRow[]> =>
  findRows(db, 'workflow_tasks', { workspace_id: workspace, assigned_agent_id: agentId }, { order: { claimed_at: 'asc', id: 'asc' } });

/** Returns the agent's claims, which every heartbeat reports. */
export async function claimsOf(db: Db, workspace: string, agentId: string): Promise<{ task_id: string; fence: number }[]> {
  return await db
    .selectFrom('workflow_tasks')
    .select(['id as task_id', 'fence'])
    .where('workspace_id', '=', workspace)
    .where('assigned_agent_id', '=', agentId)
    .orderBy('claimed_at')
    .orderBy('id')
    .execute();
}

/** SQL condition that is true if the agent holds any task except these. */
export const holdsOther = (db: Db, workspace: string, agentId: string, taskIds: readonly string[]): Expression<SqlBool> =>
  expressionBuilder<Database>().exists(
    db
      .selectFrom('workflow_tasks')
      .select('workflow_tasks.id')
      .where('workflow_tasks.workspace_id', '=', workspace)
      .where('workflow_tasks.assigned_agent_id', '=', agentId)
      .where('workflow_tasks.id', 'not in', taskIds),
  );

export const tasksClaimedIn = (db: Db, workspace: string, workflowId: string): Promise<WorkflowTaskRow[]> =>
  findRows(db, 'workflow_tasks', { workspace_id: workspace, workflow_id: workflowId, assigned_agent_id: { '!=': null } });

/** Returns, for each workflow, the number of tasks that wait for a person to answer. */
export async function questionsIn(db: Db, workspace: string, workflowIds: readonly string[]): Promise<Map<string, number>> {
  if (workflowIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('workflow_tasks')
    .select(['workflow_id', (eb) => eb.fn.countAll<number>().as('asked')])
    .where('workspace_id', '=', workspace)
    .where('workflow_id', 'in', workflowIds)
    .where('status', '=', 'paused')
    .where('question_id', 'is not', null)
    .groupBy('workflow_id')
    .execute();
  return new Map(rows.map(({ workflow_id, asked }) => [workflow_id, Number(asked)]));
}

/** Returns agents that hold tasks of the workflow although they have been silent for too long. */
export async function silentHolders(db: Db, workspace: string, workflowId: string, now: number): Promise<string[]> {
  const rows = await db
    .selectFrom('workflow_tasks as task')
    .innerJoin('agents as agent', (join) => join.onRef('agent.workspace_id', '=', 'task.workspace_id').onRef('agent.id', '=', 'task.assigned_agent_id'))
    .select('agent.id')
    .distinct()
    .where('task.workspace_id', '=', workspace)
    .where('task.workflow_id', '=', workflowId)
    .where('task.assigned_agent_id', 'is not', null)
    .where('agent.last_seen_at', '<=', now - LEASE_MS)
    .execute();
  return rows.map(({ id }) => id);
}

/** Names of unfinished dependencies, in plan order. */
export async function openDependencies(db: Db, workspace: string, taskId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('workflow_dependencies as dependency')
    .innerJoin('workflow_tasks as task', (join) =>
      join.onRef('task.workspace_id', '=', 'dependency.workspace_id').onRef('task.id', '=', 'dependency.depends_on'),
    )
    .select('task.name')
    .where('dependency.workspace_id', '=', workspace)
    .where('dependency.task_id', '=', taskId)
    .where('task.status', 'not in', [...SATISFIED, 'removed'])
    .orderBy('task.sequence')
    .orderBy('task.name')
    .limit(limit)
    .execute();
  return rows.map(({ name }) => name);
}

interface CheckpointFilter {
  readonly types?: readonly CheckpointRow['type'][] | undefined;
  readonly after?: number | undefined;
}

export const checkpointsAfter = (db: Db, workspace: string, taskId: string, { types, after = 0 }: CheckpointFilter, limit: number): Promise<CheckpointRow[]> =>
  findRows(db, 'checkpoints', { workspace_id: workspace, task_id: taskId, sequence: { '>': after }, type: types }, { order: { sequence: 'asc' }, limit });

/**
 * Returns open workflows that come after `last`, oldest first. If `hasRoom` is true, returns workflows below their parallel limit, and otherwise
 * workflows at the limit.
 */
export async function runningWorkflows(db: Db, workspace: string, hasRoom: boolean, last: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('workflows')
    .select('workflows.id')
    .where('workflows.workspace_id', '=', workspace)
    .where('workflows.status', 'in', OPEN_WORKFLOW)
    .where('workflows.id', '>', last)
    .where('workflows.max_parallel_tasks', hasRoom ? '>' : '<=', (eb) =>
      eb
        .selectFrom('workflow_tasks as task')
        .select(({ fn }) => fn.countAll<number>().as('claimed'))
        .whereRef('task.workspace_id', '=', 'workflows.workspace_id')
        .whereRef('task.workflow_id', '=', 'workflows.id')
        .where('task.assigned_agent_id', 'is not', null),
    )
    .orderBy('workflows.id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

export type OfferedStep = Pick<WorkflowTaskRow, 'id' | 'workflow_id' | 'sequence' | 'name' | 'capabilities'>;

/** Returns the claimable tasks of these workflows that come after `last`. They are sorted by the age of the workflow and then by plan order. */
export async function actionableTasks(
  db: Db,
  workspace: string,
  workflowIds: readonly string[],
  { last, limit, now }: { last: OfferedStep | undefined; limit: number; now: number },
): Promise<OfferedStep[]> {
  let tasks = db
    .selectFrom('workflow_tasks as task')
    .leftJoin('agents as holder', (join) => join.onRef('holder.workspace_id', '=', 'task.workspace_id').onRef('holder.id', '=', 'task.assigned_agent_id'))
    .select(['task.id', 'task.workflow_id', 'task.sequence', 'task.name', 'task.capabilities'])
    .where('task.workspace_id', '=', workspace)
    .where('task.workflow_id', 'in', workflowIds)
    .where('task.status', 'in', ACTIONABLE)
    .where('task.open_dependencies', '=', 0)
    .where('task.question_id', 'is', null)
    .where((eb) => eb.or([eb('task.assigned_agent_id', 'is', null), eb('holder.last_seen_at', '<=', now - LEASE_MS)]));
  if (last) {
    tasks = tasks.where((eb) => eb(eb.refTuple('task.workflow_id', 'task.sequence', 'task.name'), '>', eb.tuple(last.workflow_id, last.sequence, last.name)));
  }
  // Without the `+`, SQLite scans all tasks in index order to avoid sorting a few.
  const sequence = sql<number>`+${sql.ref('task.sequence')}`;
  return await tasks.orderBy('task.workflow_id').orderBy(sequence).orderBy('task.name').limit(limit).execute();
}
