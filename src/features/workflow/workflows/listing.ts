import { type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { beginning } from '../../../kernel/excerpt.ts';
import { calledRepository } from '../../../kernel/repository-name.ts';
import { wordsPattern } from '../../../kernel/tail.ts';
import type { Db } from '../../../storage/engine.ts';
import type { Database } from '../../../storage/schema-rows.ts';
import { dependencyNames } from './graph-store.ts';
import { shownStatus, type TaskStatus, type WorkflowStatus } from './lifecycle.ts';
import type { ListedTask } from './shapes.ts';
import { standingTasks } from './store.ts';
import { SUMMARISED, type SummarisedWorkflow } from './views.ts';

export interface WorkflowFilter {
  readonly repository_path?: string | undefined;
  /** What people call the repository. */
  readonly repository?: string | undefined;
  readonly status?: readonly WorkflowStatus[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Newest first: ids sort by when they were made. */
export async function pageOfWorkflows(db: Db, workspace: string, filter: WorkflowFilter): Promise<{ rows: SummarisedWorkflow[]; total: number }> {
  let matching = db.selectFrom('workflows').where('workspace_id', '=', workspace);
  if (filter.repository_path !== undefined) matching = matching.where('repository_path', '=', filter.repository_path);
  if (filter.repository !== undefined) matching = matching.where(calledRepository('repository_path', filter.repository));
  if (filter.status) matching = matching.where('status', 'in', filter.status);
  const rows = await matching.select(SUMMARISED).orderBy('id', 'desc').limit(filter.limit).offset(filter.offset).execute();
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return { rows, total: Number(total) };
}

export interface TaskPage {
  readonly summaries: boolean;
  /** Only those that are shown in one of these. */
  readonly status?: readonly TaskStatus[] | undefined;
  /** Only those with these words in their name. */
  readonly text?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export async function pageOfTasks(db: Db, workspace: string, workflowId: string, page: TaskPage): Promise<{ tasks: ListedTask[]; total: number }> {
  const all = standingTasks(db, { workspace_id: workspace, id: workflowId });
  const { status, text: words } = page;
  const inStatus = status ? all.where((eb) => eb.or(status.map((shown) => shownAs(eb, shown)))) : all;
  const standing = words === undefined ? inStatus : inStatus.where(sql<SqlBool>`lower(name) like ${wordsPattern(words.toLowerCase())} escape '\\'`);
  const rows = await standing
    .select(['id', 'name', 'sequence', 'parallel_group', 'status', 'open_dependencies', 'assigned_agent_id'])
    .$if(page.summaries, (query) => query.select(BEGINNING))
    .orderBy('sequence')
    .orderBy('name')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await standing.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const names = await dependencyNames(
    db,
    workspace,
    rows.map(({ id }) => id),
  );
  const tasks = rows.map(({ open_dependencies, text, ...row }) => ({
    ...row,
    status: shownStatus({ ...row, open_dependencies }),
    depends_on: names.get(row.id) ?? [],
    ...(text === undefined ? {} : { summary: beginning(text, SUMMARY) }),
  }));
  return { tasks, total: Number(total) };
}

/** The other way round than `shownStatus`. */
function shownAs(eb: ExpressionBuilder<Database, 'workflow_tasks'>, status: TaskStatus) {
  if (status !== 'pending' && status !== 'blocked') return eb('workflow_tasks.status', '=', status);
  return eb.and([eb('workflow_tasks.status', '=', 'pending'), eb('workflow_tasks.open_dependencies', status === 'blocked' ? '>' : '=', 0)]);
}

const SUMMARY = 300;

/** What came of it, else what went wrong, else what it is about. Cut in the store: ten thousand whole descriptions are read by nobody. */
const BEGINNING = sql<string>`substr(coalesce(outcome, error, description), 1, ${sql.lit(SUMMARY + 1)})`.as('text');
