import { type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from '../../storage/database.ts';
import type { Db } from '../../storage/engine.ts';
import { isOneOf, newestCheckpoints, readRecord, SATISFIED, shownStatus, viewCheckpoint, type WorkflowTaskRow } from '../workflows/index.ts';
import type { CheckpointView, DependencyOutcome, Include, PriorTask, SiblingTask } from './contract.ts';
import { oneLine } from './cut.ts';
import { bareCheckpointEntry, checkpointEntry, dependencyEntry, priorEntry, type Scale, siblingEntry } from './entries.ts';
import type { Entry } from './parts.ts';

/** The first of a list, as many as could ever fit, and how many there are in all. */
export interface Found<T> {
  readonly entries: readonly Entry<T>[];
  readonly total: number;
}

const NOTHING = { entries: [], total: 0 };
const PAGE = 100;
/** So much detail is read for each token that may be used: a large one may be passed over for smaller ones further back. */
const CHARACTERS = 16;

/** What the task built on, and what stands beside it. Nothing is read that cannot fit. */
export async function gather(db: Db, task: WorkflowTaskRow, include: Include, scale: Scale) {
  return {
    checkpoints: await checkpointsOf(db, task, include, scale),
    prior: include.prior_task_outcomes ? await priorTo(db, task, include.prior_task_full, scale) : NOTHING,
    siblings: include.sibling_status ? await siblingsOf(db, task, scale) : NOTHING,
    dependencies: include.dependency_outcomes ? await dependenciesOf(db, task, scale) : NOTHING,
  };
}

/** Newest first: whole while their details may fit, and then without. */
async function checkpointsOf(db: Db, task: WorkflowTaskRow, include: Include, scale: Scale): Promise<Found<CheckpointView>> {
  const total = include.all_checkpoints ? task.last_checkpoint : Math.min(include.recent_checkpoints, task.last_checkpoint);
  const entries: Entry<CheckpointView>[] = [];
  let [characters, bares] = [0, 0];
  let before = task.last_checkpoint + 1;
  const add = (entry: Entry<CheckpointView>): void => {
    if (bares > scale.max) return;
    entries.push(entry);
    bares += entry.bareSize;
    before = entry.bare.sequence;
  };
  const wanted = () => entries.length < total && bares <= scale.max;
  for (let page = 10; wanted() && characters <= CHARACTERS * scale.max; page = Math.min(2 * page, PAGE)) {
    const rows = await newestCheckpoints(db, task.workspace_id, task.id, Math.min(page, total - entries.length), before);
    if (rows.length === 0) break;
    for (const row of rows) {
      characters += (row.detail ?? '').length + row.files_changed.length;
      add(checkpointEntry(scale, viewCheckpoint(row)));
    }
  }
  while (wanted()) {
    const rows = await bareCheckpoints(db, task, Math.min(PAGE, total - entries.length), before);
    if (rows.length === 0) break;
    for (const { is_bare, ...row } of rows) add(bareCheckpointEntry(scale, { ...row, detail: null, files_changed: [] }, Number(is_bare) === 1));
  }
  return { entries, total };
}

async function bareCheckpoints(db: Db, task: WorkflowTaskRow, limit: number, before: number) {
  return await db
    .selectFrom('checkpoints')
    .select(['id', 'task_id', 'sequence', 'type', 'summary', 'agent_id', 'created_at'])
    .select(sql<number>`case when detail is null and files_changed = '[]' then 1 else 0 end`.as('is_bare'))
    .where('workspace_id', '=', task.workspace_id)
    .where('task_id', '=', task.id)
    .where('sequence', '<', before)
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute();
}

const tasksOf = (db: Db, task: WorkflowTaskRow) =>
  db.selectFrom('workflow_tasks').where('workflow_tasks.workspace_id', '=', task.workspace_id).where('workflow_tasks.workflow_id', '=', task.workflow_id);

const PRIOR = ['completed', 'skipped', 'failed'] as const;

/** Nearest first: the highest sequence up to the task's own, and of one sequence what ended last. */
async function priorTo(db: Db, task: WorkflowTaskRow, full: boolean, scale: Scale): Promise<Found<PriorTask>> {
  const prior = tasksOf(db, task).where('sequence', '<=', task.sequence).where('status', 'in', PRIOR);
  // Of an outcome that is only summarised no more is read than the summary can take.
  const outcome = full ? sql<string>`coalesce(outcome, error, '')` : sql<string>`substr(coalesce(outcome, error, ''), 1, 1000)`;
  const onlyFull = <T>(column: 'description' | 'plan' | 'outcome_detail') => (full ? sql<T | null>`${sql.ref(column)}` : sql<T | null>`null`).as(column);
  const page = (limit: number, offset: number) =>
    prior
      .select(['id', 'name', 'status', 'open_dependencies', outcome.as('outcome')])
      .select([onlyFull<string>('description'), onlyFull<string>('plan'), onlyFull<string>('outcome_detail')])
      .where('id', '!=', task.id)
      .orderBy('sequence', 'desc')
      .orderBy(sql`coalesce(finished_at, 0)`, 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
  const others = async () => (await countOf(prior)) - (isOneOf(PRIOR, task.status) ? 1 : 0);
  return await found(page, others, scale, ({ plan, outcome_detail, description, ...row }) =>
    priorEntry(
      scale,
      {
        id: row.id,
        name: row.name,
        outcome: row.outcome,
        status: shownStatus(row),
        description: description ?? '',
        plan: readRecord(plan),
        outcome_detail: readRecord(outcome_detail),
      },
      full,
    ),
  );
}

/** Of the same parallel group, or where the task is in none of the same sequence. */
async function siblingsOf(db: Db, task: WorkflowTaskRow, scale: Scale): Promise<Found<SiblingTask>> {
  const standing = tasksOf(db, task).where('workflow_tasks.status', '!=', 'removed');
  const siblings =
    task.parallel_group === null
      ? standing.where('workflow_tasks.sequence', '=', task.sequence)
      : standing.where('workflow_tasks.parallel_group', '=', task.parallel_group);
  const page = (limit: number, offset: number) =>
    siblings
      .leftJoin('checkpoints', (join) =>
        join
          .onRef('checkpoints.workspace_id', '=', 'workflow_tasks.workspace_id')
          .onRef('checkpoints.task_id', '=', 'workflow_tasks.id')
          .onRef('checkpoints.sequence', '=', 'workflow_tasks.last_checkpoint'),
      )
      .select(['workflow_tasks.id', 'workflow_tasks.name', 'workflow_tasks.status', 'workflow_tasks.open_dependencies'])
      .select(sql<string>`substr(coalesce(workflow_tasks.outcome, checkpoints.summary, workflow_tasks.description), 1, 1000)`.as('summary'))
      .where('workflow_tasks.id', '!=', task.id)
      // By an expression, or SQLite would rather walk all tasks in the order of their names than look up the siblings.
      .orderBy(sql`workflow_tasks.sequence + 0`)
      .orderBy('workflow_tasks.name')
      .limit(limit)
      .offset(offset)
      .execute();
  return await found(
    page,
    async () => (await countOf(siblings)) - 1,
    scale,
    (row) => siblingEntry(scale, { id: row.id, name: row.name, status: shownStatus(row), brief_summary: oneLine(row.summary) }),
  );
}

/** What the task waited for itself, the nearest first. */
async function dependenciesOf(db: Db, task: WorkflowTaskRow, scale: Scale): Promise<Found<DependencyOutcome>> {
  const dependencies = db
    .selectFrom('workflow_dependencies')
    .innerJoin('workflow_tasks', (join) =>
      join.onRef('workflow_tasks.workspace_id', '=', 'workflow_dependencies.workspace_id').onRef('workflow_tasks.id', '=', 'workflow_dependencies.depends_on'),
    )
    .where('workflow_dependencies.workspace_id', '=', task.workspace_id)
    .where('workflow_dependencies.task_id', '=', task.id)
    .where('workflow_tasks.status', 'in', SATISFIED);
  const page = (limit: number, offset: number) =>
    dependencies
      .select(['workflow_tasks.id', 'workflow_tasks.name', 'workflow_tasks.status', 'workflow_tasks.open_dependencies', 'workflow_tasks.outcome'])
      .orderBy(sql`workflow_tasks.sequence + 0`, 'desc')
      .orderBy('workflow_tasks.name', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
  return await found(
    page,
    () => countOf(dependencies),
    scale,
    (row) => dependencyEntry(scale, { task_id: row.id, task_name: row.name, outcome: row.outcome ?? '', status: shownStatus(row) }),
  );
}

async function countOf<T extends keyof Database>(query: SelectQueryBuilder<Database, T, object>): Promise<number> {
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return Number(count);
}

/** Reads page by page until there can be no room for more; only then are the rest counted. */
async function found<R extends { id: string }, T>(
  page: (limit: number, offset: number) => Promise<R[]>,
  count: () => Promise<number>,
  { max }: Scale,
  entryOf: (row: R) => Entry<T>,
): Promise<Found<T>> {
  const entries = new Map<string, Entry<T>>();
  let bares = 0;
  for (let offset = 0; ; offset += PAGE) {
    const rows = await page(PAGE, offset);
    for (const row of rows) {
      if (bares > max) break;
      const entry = entryOf(row);
      // A task that ended between two pages moves others to the next one.
      entries.set(row.id, entry);
      bares += entry.bareSize;
    }
    const isAll = rows.length < PAGE && bares <= max;
    if (isAll || bares > max) return { entries: [...entries.values()], total: isAll ? entries.size : Math.max(entries.size, await count()) };
  }
}
