import { sql } from 'kysely';
import { beginning } from '../../kernel/excerpt.ts';
import type { Db } from '../../storage/engine.ts';
import { dependencyNames } from './graph-store.ts';
import { shownStatus, type WorkflowStatus } from './lifecycle.ts';
import type { ListedTask } from './shapes.ts';
import { standingTasks } from './store.ts';
import { SUMMARISED, type SummarisedWorkflow } from './views.ts';

export interface WorkflowFilter {
  readonly repository_path?: string | undefined;
  readonly status?: readonly WorkflowStatus[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Newest first: ids sort by when they were made. */
export async function pageOfWorkflows(db: Db, workspace: string, filter: WorkflowFilter): Promise<{ rows: SummarisedWorkflow[]; total: number }> {
  let matching = db.selectFrom('workflows').where('workspace_id', '=', workspace);
  if (filter.repository_path !== undefined) matching = matching.where('repository_path', '=', filter.repository_path);
  if (filter.status) matching = matching.where('status', 'in', filter.status);
  const rows = await matching.select(SUMMARISED).orderBy('id', 'desc').limit(filter.limit).offset(filter.offset).execute();
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return { rows, total: Number(total) };
}

export interface TaskPage {
  readonly summaries: boolean;
  readonly limit: number;
  readonly offset: number;
}

export async function pageOfTasks(db: Db, workspace: string, workflowId: string, page: TaskPage): Promise<{ tasks: ListedTask[]; total: number }> {
  const standing = standingTasks(db, { workspace_id: workspace, id: workflowId });
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

const SUMMARY = 300;

/** What came of it, else what went wrong, else what it is about. Cut in the store: ten thousand whole descriptions are read by nobody. */
const BEGINNING = sql<string>`substr(coalesce(outcome, error, description), 1, ${sql.lit(SUMMARY + 1)})`.as('text');
