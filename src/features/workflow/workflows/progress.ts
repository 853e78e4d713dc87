import { sql } from 'kysely';
import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { chunks } from '../../../storage/rows.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import { LEASE_MS } from '../agents/index.ts';
import { GROUPS_TOLD, NEIGHBOURS_TOLD, type nextTasks, type progressOf } from './contract.ts';
import { dependenciesOf, dependencyNames } from './graph-store.ts';
import { isEnded, isOneOf, isSatisfied, OPEN_TASK, OPEN_WORKFLOW, SATISFIED, shownStatus, TASK_STATUSES, type TaskStatus } from './lifecycle.ts';
import { activeTasks } from './store.ts';

type Next = Output<typeof nextTasks>;
type NextTask = Next['tasks'][number];
type Actionable = 'pending' | 'failed';

/** What can be taken up now. Only the ready tasks are looked at, and what each waits for or stands beside: never the whole graph. */
export async function nextOf(db: Db, workflow: WorkflowRow, now: number, includeFailed: boolean, limit: number): Promise<Omit<Next, 'all_complete'>> {
  const statuses: Actionable[] = includeFailed ? ['pending', 'failed'] : ['pending'];
  const claims = await liveClaims(db, workflow, now);
  const running = isOneOf(OPEN_WORKFLOW, workflow.status);
  const ready = running ? await readyTasks(db, workflow, statuses, claims, limit) : [];
  // The two are counted one after the other: what was ready and claimed may be under way by now.
  const available = running ? Math.max(0, (await countReady(db, workflow, statuses)) - claims.filter((claim) => isReady(claim, statuses)).length) : 0;
  return {
    tasks: await described(db, workflow, ready),
    available,
    claimed: claims.length,
    max_parallel: workflow.max_parallel_tasks,
    recommended_count: Math.min(available, workflow.max_parallel_tasks),
    workflow_status: workflow.status,
  };
}

/** There is at least one task, and none is open. */
export async function allComplete(db: Db, workflow: WorkflowRow): Promise<boolean> {
  const one = (statuses: readonly WorkflowTaskRow['status'][]) => activeTasks(db, workflow).select('id').where('status', 'in', statuses).limit(1).execute();
  return (await one(OPEN_TASK)).length === 0 && (await one(SATISFIED)).length > 0;
}

type Claim = Pick<WorkflowTaskRow, 'id' | 'status' | 'open_dependencies'>;

const isReady = ({ status, open_dependencies }: Claim, statuses: readonly Actionable[]): boolean => open_dependencies === 0 && isOneOf(statuses, status);

/** A claim counts as long as its holder was heard of: the sweep may be a few seconds late. */
async function liveClaims(db: Db, workflow: WorkflowRow, now: number): Promise<Claim[]> {
  return await activeTasks(db, workflow)
    .innerJoin('agents', (join) =>
      join.onRef('agents.workspace_id', '=', 'workflow_tasks.workspace_id').onRef('agents.id', '=', 'workflow_tasks.assigned_agent_id'),
    )
    .select(['workflow_tasks.id', 'workflow_tasks.status', 'workflow_tasks.open_dependencies'])
    .where('workflow_tasks.assigned_agent_id', 'is not', null)
    .where('agents.last_seen_at', '>', now - LEASE_MS)
    .execute();
}

async function countReady(db: Db, workflow: WorkflowRow, statuses: readonly Actionable[]): Promise<number> {
  const { ready } = await activeTasks(db, workflow)
    .select((eb) => eb.fn.countAll<number>().as('ready'))
    .where('status', 'in', statuses)
    .where('open_dependencies', '=', 0)
    .executeTakeFirstOrThrow();
  return Number(ready);
}

const TOLD = ['id', 'name', 'description', 'sequence', 'status', 'parallel_group'] as const;
type Ready = Pick<WorkflowTaskRow, (typeof TOLD)[number]>;

/** One status at a time, so that each is read in the order of its index and no further than needed. */
async function readyTasks(db: Db, workflow: WorkflowRow, statuses: readonly Actionable[], claims: readonly Claim[], limit: number): Promise<Ready[]> {
  const held = new Set(claims.map(({ id }) => id));
  const ready: Ready[] = [];
  for (const status of statuses) {
    const rows = await activeTasks(db, workflow)
      .select(TOLD)
      .where('status', '=', status)
      .where('open_dependencies', '=', 0)
      .orderBy('sequence')
      .orderBy('name')
      .limit(limit + claims.length)
      .execute();
    ready.push(...rows.filter(({ id }) => !held.has(id)));
  }
  return ready.sort((one, other) => one.sequence - other.sequence || (one.name < other.name ? -1 : 1)).slice(0, limit);
}

async function described(db: Db, workflow: WorkflowRow, ready: readonly Ready[]): Promise<NextTask[]> {
  const ids = ready.map(({ id }) => id);
  const names = await dependencyNames(db, workflow.workspace_id, ids);
  const groups = await groupMembers(db, workflow, [...new Set(ready.map(({ parallel_group }) => parallel_group).filter((group) => group !== null))]);
  return ready.map(({ parallel_group, ...task }) => {
    const group = parallel_group === null ? undefined : groups.get(parallel_group);
    const others = (group?.ids ?? []).filter((id) => id !== task.id).slice(0, NEIGHBOURS_TOLD);
    const dependencies = names.get(task.id) ?? [];
    return {
      ...task,
      status: task.status as Actionable,
      can_parallelize: others.length > 0,
      ...(parallel_group === null ? {} : { parallel_with: others }),
      ...counted('parallel_with_more', (group?.size ?? 1) - 1 - others.length),
      dependencies_completed: dependencies.slice(0, NEIGHBOURS_TOLD),
      ...counted('dependencies_completed_more', dependencies.length - NEIGHBOURS_TOLD),
    };
  });
}

const counted = <K extends string>(field: K, more: number): Partial<Record<K, number>> => (more > 0 ? ({ [field]: more } as Record<K, number>) : {});

const GROUPS_AT_ONCE = 100;

interface Group {
  readonly ids: readonly string[];
  readonly size: number;
}

/** The first members of each group, and how many it has. */
async function groupMembers(db: Db, { workspace_id, id }: WorkflowRow, groups: readonly string[]): Promise<Map<string, Group>> {
  const found = new Map<string, Group>();
  for (const chunk of chunks(groups, GROUPS_AT_ONCE)) {
    const members = chunk.map(
      (group) => sql`select * from (select parallel_group, id from workflow_tasks where workspace_id = ${workspace_id} and workflow_id = ${id}
        and parallel_group = ${group} order by sequence limit ${sql.lit(NEIGHBOURS_TOLD + 1)}) as one`,
    );
    const { rows } = await sql<{ parallel_group: string; id: string }>`${sql.join(members, sql` union all `)}`.execute(db);
    const sizes = await db
      .selectFrom('workflow_tasks')
      .select(['parallel_group', (eb) => eb.fn.countAll<number>().as('size')])
      .where('workspace_id', '=', workspace_id)
      .where('workflow_id', '=', id)
      .where('parallel_group', 'in', chunk)
      .groupBy('parallel_group')
      .execute();
    const byGroup = Map.groupBy(rows, ({ parallel_group }) => parallel_group);
    for (const { parallel_group, size } of sizes) {
      found.set(parallel_group as string, { ids: (byGroup.get(parallel_group as string) ?? []).map((row) => row.id), size: Number(size) });
    }
  }
  return found;
}

type Progress = Output<typeof progressOf>;
type Counts = Record<TaskStatus, number>;

const BLOCKED_TOLD = 100;

/** Counted in the store: of a graph of any size, only what is told is read. */
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
    ...counted('blocked_tasks_more', counts.blocked - BLOCKED_TOLD),
    ...(await groups(db, workflow)),
    estimated_remaining: remaining,
    estimated_remaining_ms: remainingMs(workflow, counts.completed, remaining, now),
  };
}

/** At the rate of what was completed since the work began. Work that is over, or that nobody has done any of, has no rate. */
function remainingMs({ started_at, status }: Pick<WorkflowRow, 'started_at' | 'status'>, completed: number, remaining: number, now: number): number | null {
  if (remaining === 0) return 0;
  if (isEnded(status) || started_at === null || completed === 0) return null;
  return Math.round((Math.max(0, now - started_at) / completed) * remaining);
}

const noTasks = (): Counts => Object.fromEntries(TASK_STATUSES.map((status) => [status, 0])) as Counts;

export interface WorkflowCounts {
  readonly by_status: Counts;
  /** When a task of it last changed; 0 where there is none. */
  changed_at: number;
}

/** Of several workflows at once. */
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

async function countByStatus(db: Db, workflow: WorkflowRow): Promise<Counts> {
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
  // Which they are is in the index; the tasks themselves are then looked up by their names, of which each is there once.
  const first = activeTasks(db, workflow)
    .select(['sequence', 'name'])
    .where('status', '=', 'pending')
    .where('open_dependencies', '>', 0)
    .orderBy('sequence')
    .orderBy('name')
    .limit(BLOCKED_TOLD);
  const names = (await first.execute()).map(({ name }) => name);
  if (names.length === 0) return [];
  const rows = await activeTasks(db, workflow).select(['id', 'name', 'sequence']).where('name', 'in', names).execute();
  const place = new Map(names.map((name, index) => [name, index]));
  rows.sort((one, other) => (place.get(one.name) as number) - (place.get(other.name) as number));
  const dependencies = await dependenciesOf(
    db,
    workflow.workspace_id,
    rows.map(({ id }) => id),
  );
  return rows.map(({ id, name }) => {
    const waitsFor = (dependencies.get(id) ?? []).filter(({ status }) => !isSatisfied(status)).map((dependency) => dependency.name);
    return { id, name, blocked_by: waitsFor.slice(0, NEIGHBOURS_TOLD), ...counted('blocked_by_more', waitsFor.length - NEIGHBOURS_TOLD) };
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
  const told = rows.slice(0, GROUPS_TOLD).map(({ parallel_group, task_count, completed }) => ({
    group_id: String(parallel_group),
    task_count: Number(task_count),
    completed: Number(completed),
  }));
  return { parallel_groups: told, ...counted('parallel_groups_more', rows.length - GROUPS_TOLD) };
}
