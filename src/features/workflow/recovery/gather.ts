import { sql } from 'kysely';
import type { TimeSlice } from '../../../kernel/time-slice.ts';
import type { Db } from '../../../storage/engine.ts';
import { isOneOf, newestCheckpoints, readRecord, SATISFIED, shownStatus, viewCheckpoint, type WorkflowTaskRow } from '../workflows/index.ts';
import type { Include, RecoveredCheckpoint } from './contract.ts';
import { oneLine } from './cut.ts';
import { bareCheckpointEntry, checkpointEntry, dependencyEntry, priorEntry, type Scale, siblingEntry } from './entries.ts';
import { CHARACTERS, countOf, defineListing, FIRST_PAGE, type ListingEntries, PAGE, readListing } from './listing.ts';
import type { ContextEntry } from './parts.ts';

const NOTHING = { entries: [], total: 0 };

/** Reads checkpoints, earlier tasks, sibling tasks and dependencies, but not more than can fit into the answer. */
export async function gather(db: Db, task: WorkflowTaskRow, include: Include, scale: Scale, slice: TimeSlice) {
  return {
    checkpoints: await checkpointsOf(db, task, include, scale, slice),
    prior: include.prior_task_outcomes ? await readListing(priorTo(db, task, include.prior_task_full, scale), scale, slice) : NOTHING,
    siblings: include.sibling_status ? await readListing(siblingsOf(db, task, scale), scale, slice) : NOTHING,
    dependencies: include.dependency_outcomes ? await readListing(dependenciesOf(db, task, scale), scale, slice) : NOTHING,
  };
}

/** Returns checkpoints, newest first. Reads checkpoints with their details as long as the details may fit, and further checkpoints without details. */
async function checkpointsOf(db: Db, task: WorkflowTaskRow, include: Include, scale: Scale, slice: TimeSlice): Promise<ListingEntries<RecoveredCheckpoint>> {
  const total = include.all_checkpoints ? task.last_checkpoint : Math.min(include.recent_checkpoints, task.last_checkpoint);
  const entries: ContextEntry<RecoveredCheckpoint>[] = [];
  let [characters, bares] = [0, 0];
  let before = task.last_checkpoint + 1;
  const add = (entry: ContextEntry<RecoveredCheckpoint>): void => {
    if (bares > scale.max) return;
    entries.push(entry);
    bares += entry.bareSize;
    before = entry.bare.sequence;
  };
  const hasRoom = () => entries.length < total && bares <= scale.max;
  for (let page = FIRST_PAGE; hasRoom() && characters <= CHARACTERS * scale.max; page = Math.min(2 * page, PAGE)) {
    const rows = await newestCheckpoints(db, task.workspace_id, task.id, Math.min(page, total - entries.length), before);
    if (rows.length === 0) break;
    for (const row of rows) {
      characters += (row.detail ?? '').length + row.files_changed.length;
      add(checkpointEntry(scale, viewCheckpoint(row)));
    }
    await slice.pauseIfOver();
  }
  while (hasRoom()) {
    const rows = await bareCheckpoints(db, task, Math.min(PAGE, total - entries.length), before);
    if (rows.length === 0) break;
    for (const { is_bare, ...row } of rows) add(bareCheckpointEntry(scale, { ...row, detail: null, files_changed: [] }, Number(is_bare) === 1));
    await slice.pauseIfOver();
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

const tasksById = (db: Db, task: WorkflowTaskRow, ids: readonly string[]) =>
  db.selectFrom('workflow_tasks').where('workflow_tasks.workspace_id', '=', task.workspace_id).where('workflow_tasks.id', 'in', ids);

const PRIOR = ['completed', 'skipped', 'failed'] as const;

/** Returns ended tasks up to the task's own sequence, the highest sequence first. Within a sequence, the task that ended last comes first. */
function priorTo(db: Db, task: WorkflowTaskRow, full: boolean, scale: Scale) {
  const prior = tasksOf(db, task).where('sequence', '<=', task.sequence).where('status', 'in', PRIOR);
  return defineListing({
    ids: (limit) =>
      prior
        .select('id')
        .where('id', '!=', task.id)
        .orderBy('sequence', 'desc')
        .orderBy(sql`coalesce(finished_at, 0)`, 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    count: async () => (await countOf(prior)) - (isOneOf(PRIOR, task.status) ? 1 : 0),
    rows: (ids, briefly) => {
      const isWhole = full && !briefly;
      // For a summary, only the beginning of the outcome is read.
      const outcome = isWhole ? sql<string>`coalesce(outcome, error, '')` : sql<string>`substr(coalesce(outcome, error, ''), 1, 1000)`;
      const onlyWhole = (column: 'description' | 'plan' | 'outcome_detail') => (isWhole ? sql<string | null>`${sql.ref(column)}` : sql<null>`null`).as(column);
      return tasksById(db, task, ids)
        .select(['id', 'name', 'status', 'open_dependencies', outcome.as('outcome')])
        .select([onlyWhole('description'), onlyWhole('plan'), onlyWhole('outcome_detail')])
        .where('status', 'in', PRIOR)
        .execute();
    },
    entry: ({ id, name, outcome, description, ...row }, briefly) =>
      priorEntry(
        scale,
        {
          id,
          name,
          outcome,
          status: shownStatus(row),
          description: description ?? '',
          plan: readRecord(row.plan),
          outcome_detail: readRecord(row.outcome_detail),
        },
        full ? (briefly ? 'unread' : 'full') : 'summary',
      ),
  });
}

/** Returns the tasks of the same parallel group. If the task is in no group, returns the tasks of the same sequence. */
function siblingsOf(db: Db, task: WorkflowTaskRow, scale: Scale) {
  const standing = tasksOf(db, task).where('workflow_tasks.status', '!=', 'removed');
  const siblings =
    task.parallel_group === null
      ? standing.where('workflow_tasks.sequence', '=', task.sequence)
      : standing.where('workflow_tasks.parallel_group', '=', task.parallel_group);
  return defineListing({
    ids: (limit) =>
      siblings
        .select('id')
        .where('id', '!=', task.id)
        // `+ 0` makes SQLite look up the siblings instead of scanning all tasks in the order of their names.
        .orderBy(sql`workflow_tasks.sequence + 0`)
        .orderBy('workflow_tasks.name')
        .limit(limit)
        .execute(),
    count: async () => (await countOf(siblings)) - 1,
    rows: (ids) =>
      tasksById(db, task, ids)
        .leftJoin('checkpoints', (join) =>
          join
            .onRef('checkpoints.workspace_id', '=', 'workflow_tasks.workspace_id')
            .onRef('checkpoints.task_id', '=', 'workflow_tasks.id')
            .onRef('checkpoints.sequence', '=', 'workflow_tasks.last_checkpoint'),
        )
        .select(['workflow_tasks.id', 'workflow_tasks.name', 'workflow_tasks.status', 'workflow_tasks.open_dependencies'])
        .select(sql<string>`substr(coalesce(workflow_tasks.outcome, checkpoints.summary, workflow_tasks.description), 1, 1000)`.as('summary'))
        .where('workflow_tasks.status', '!=', 'removed')
        .execute(),
    entry: (row) => siblingEntry(scale, { id: row.id, name: row.name, status: shownStatus(row), brief_summary: oneLine(row.summary) }),
  });
}

/** Returns the finished dependencies of the task, nearest first. */
function dependenciesOf(db: Db, task: WorkflowTaskRow, scale: Scale) {
  const dependencies = db
    .selectFrom('workflow_dependencies')
    .innerJoin('workflow_tasks', (join) =>
      join.onRef('workflow_tasks.workspace_id', '=', 'workflow_dependencies.workspace_id').onRef('workflow_tasks.id', '=', 'workflow_dependencies.depends_on'),
    )
    .where('workflow_dependencies.workspace_id', '=', task.workspace_id)
    .where('workflow_dependencies.task_id', '=', task.id)
    .where('workflow_tasks.status', 'in', SATISFIED);
  return defineListing({
    ids: (limit) =>
      dependencies.select('workflow_tasks.id').orderBy(sql`workflow_tasks.sequence + 0`, 'desc').orderBy('workflow_tasks.name', 'desc').limit(limit).execute(),
    count: () => countOf(dependencies),
    rows: (ids, briefly) =>
      tasksById(db, task, ids)
        .select(['id', 'name', 'status', 'open_dependencies'])
        .select((briefly ? sql<string>`substr(coalesce(outcome, ''), 1, 1000)` : sql<string>`coalesce(outcome, '')`).as('outcome'))
        .where('status', 'in', SATISFIED)
        .execute(),
    entry: (row, briefly) => dependencyEntry(scale, { task_id: row.id, task_name: row.name, outcome: row.outcome, status: shownStatus(row) }, briefly),
  });
}
