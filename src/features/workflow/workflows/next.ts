import { sql } from 'kysely';
import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { chunks } from '../../../storage/rows.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import { LEASE_MS } from '../agents/index.ts';
import { NEIGHBOURS_SHOWN, type nextTasks } from './contract.ts';
import { dependencyNames } from './graph-store.ts';
import { isOneOf, OPEN_WORKFLOW } from './lifecycle.ts';
import { activeTasks } from './store.ts';
import { fieldIfMore } from './views.ts';

type Next = Output<typeof nextTasks>;
type NextTasks = Omit<Next, 'all_complete'>;
type NextTask = Next['tasks'][number];
type Actionable = 'pending' | 'failed';

/** Returns the tasks that can be claimed now. Reads only ready tasks and their neighbours, never the whole graph. */
export async function readNextTasks(db: Db, workflow: WorkflowRow, now: number, options: { includeFailed: boolean; limit: number }): Promise<NextTasks> {
  const { includeFailed, limit } = options;
  const statuses: Actionable[] = includeFailed ? ['pending', 'failed'] : ['pending'];
  const claims = await liveClaims(db, workflow, now);
  const running = isOneOf(OPEN_WORKFLOW, workflow.status);
  const ready = running ? await readyTasks(db, workflow, statuses, claims, limit) : [];
  // The queries run one after the other. A claimed task that was ready in the first query may be in progress in the second one, so the difference
  // could be negative.
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

type Claim = Pick<WorkflowTaskRow, 'id' | 'status' | 'open_dependencies'>;

const isReady = ({ status, open_dependencies }: Claim, statuses: readonly Actionable[]): boolean => open_dependencies === 0 && isOneOf(statuses, status);

/** Returns only claims of agents that are not silent. The sweep that releases the other claims may be a few seconds late. */
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

const SHOWN = ['id', 'name', 'description', 'sequence', 'status', 'parallel_group'] as const;
type Ready = Pick<WorkflowTaskRow, (typeof SHOWN)[number]>;

/** Reads one status at a time, so that each query uses its index and reads no more than needed. */
async function readyTasks(db: Db, workflow: WorkflowRow, statuses: readonly Actionable[], claims: readonly Claim[], limit: number): Promise<Ready[]> {
  const held = new Set(claims.map(({ id }) => id));
  const ready: Ready[] = [];
  for (const status of statuses) {
    const rows = await activeTasks(db, workflow)
      .select(SHOWN)
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
    const others = (group?.ids ?? []).filter((id) => id !== task.id).slice(0, NEIGHBOURS_SHOWN);
    const dependencies = names.get(task.id) ?? [];
    return {
      ...task,
      status: task.status as Actionable,
      can_parallelize: others.length > 0,
      ...(parallel_group === null ? {} : { parallel_with: others }),
      ...fieldIfMore('parallel_with_more', (group?.size ?? 1) - 1 - others.length),
      dependencies_completed: dependencies.slice(0, NEIGHBOURS_SHOWN),
      ...fieldIfMore('dependencies_completed_more', dependencies.length - NEIGHBOURS_SHOWN),
    };
  });
}

const GROUPS_AT_ONCE = 100;

interface Group {
  readonly ids: readonly string[];
  readonly size: number;
}

/** Returns the first members of each parallel group, and the number of tasks in it. */
async function groupMembers(db: Db, { workspace_id, id }: WorkflowRow, groups: readonly string[]): Promise<Map<string, Group>> {
  const found = new Map<string, Group>();
  for (const chunk of chunks(groups, GROUPS_AT_ONCE)) {
    const members = chunk.map(
      (group) => sql`select * from (select parallel_group, id from workflow_tasks where workspace_id = ${workspace_id} and workflow_id = ${id}
        and parallel_group = ${group} order by sequence limit ${sql.lit(NEIGHBOURS_SHOWN + 1)}) as one`,
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
