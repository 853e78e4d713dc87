import { type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { beginning } from '../../../kernel/excerpt.ts';
import { calledRepository, wordsPattern } from '../../../kernel/like.ts';
import type { Db } from '../../../storage/engine.ts';
import { matching, pageOf } from '../../../storage/rows.ts';
import type { Database } from '../../../storage/schema-rows.ts';
import type { ListedTask } from './contract.ts';
import { dependencyNames } from './graph-store.ts';
import { shownStatus, type TaskStatus, type WorkflowStatus } from './lifecycle.ts';
import { activeTasks } from './store.ts';
import { SUMMARISED, type SummarisedWorkflow } from './views.ts';

interface WorkflowFilter {
  readonly repository_path?: string | undefined;
  /** Name of the repository, which is the last part of its path. */
  readonly repository?: string | undefined;
  readonly status?: readonly WorkflowStatus[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Returns the newest workflows first. Sorting by id is enough, because ids rise with time. */
export async function pageOfWorkflows(db: Db, workspace: string, filter: WorkflowFilter): Promise<{ rows: SummarisedWorkflow[]; total: number }> {
  const { repository_path, repository, status } = filter;
  const found = matching(db, 'workflows', { workspace_id: workspace, repository_path, status });
  const called = repository === undefined ? found : found.where(calledRepository('repository_path', repository));
  return await pageOf(called.select(SUMMARISED).orderBy('id', 'desc'), filter);
}

interface WorkflowTaskSelection {
  readonly summaries: boolean;
  /** Only tasks that callers see in one of these statuses. */
  readonly status?: readonly TaskStatus[] | undefined;
  /** Only tasks with this text in their name. */
  readonly text?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export async function pageOfTasks(db: Db, workspace: string, workflowId: string, page: WorkflowTaskSelection): Promise<{ tasks: ListedTask[]; total: number }> {
  const all = activeTasks(db, { workspace_id: workspace, id: workflowId });
  const { status, text: words } = page;
  const inStatus = status ? all.where((eb) => eb.or(status.map((shown) => shownAs(eb, shown)))) : all;
  const named = words === undefined ? inStatus : inStatus.where(sql<SqlBool>`lower(name) like ${wordsPattern(words.toLowerCase())} escape '\\'`);
  const query = named
    .select(['id', 'name', 'sequence', 'parallel_group', 'status', 'open_dependencies', 'assigned_agent_id'])
    .$if(page.summaries, (query) => query.select(BEGINNING))
    .orderBy('sequence')
    .orderBy('name');
  const { rows, total } = await pageOf(query, page);
  const ids = rows.map(({ id }) => id);
  const names = await dependencyNames(db, workspace, ids);
  const tasks = rows.map(({ open_dependencies, text, ...row }) => ({
    ...row,
    status: shownStatus({ ...row, open_dependencies }),
    depends_on: names.get(row.id) ?? [],
    ...(text === undefined ? {} : { summary: beginning(text, SUMMARY) }),
  }));
  return { tasks, total };
}

/** SQL condition for tasks that `shownStatus` shows with this status. */
function shownAs(eb: ExpressionBuilder<Database, 'workflow_tasks'>, status: TaskStatus) {
  if (status !== 'pending' && status !== 'blocked') return eb('workflow_tasks.status', '=', status);
  return eb.and([eb('workflow_tasks.status', '=', 'pending'), eb('workflow_tasks.open_dependencies', status === 'blocked' ? '>' : '=', 0)]);
}

const SUMMARY = 300;

/**
 * The beginning of the outcome. Without an outcome, the beginning of the error or else of the description. The query cuts the text, because
 * descriptions may be long.
 */
const BEGINNING = sql<string>`substr(coalesce(outcome, error, description), 1, ${sql.lit(SUMMARY + 1)})`.as('text');
