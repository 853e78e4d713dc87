import { record, type WriteContext } from '../../../kernel/context.ts';
import { newId } from '../../../kernel/ids.ts';
import type { TaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type CheckedWork, indexItem, markFiles } from '../overlap/index.ts';
import { repoOfSession } from '../sessions/index.ts';
import { chooseWorkstream, requireOpenWorkstream } from '../workstreams/index.ts';
import { insertTask } from './store.ts';
import { filesOf } from './views.ts';

/** A task in the words of whoever checks, plans or starts it. */
export interface TaskWords {
  readonly title: string;
  readonly task_type: TaskRow['task_type'];
  readonly description?: string | undefined;
  readonly scope?: string | undefined;
  readonly action?: NonNullable<TaskRow['action']> | undefined;
  readonly component?: string | undefined;
  readonly priority?: TaskRow['priority'] | undefined;
  readonly target_files?: readonly string[] | undefined;
  readonly workstream_id?: string | undefined;
  /** Where no session tells it. */
  readonly repo?: string | undefined;
}

export async function subjectOf(tx: Tx, ctx: WriteContext, developerId: string, words: TaskWords, plannedId: string | null): Promise<CheckedWork> {
  return {
    kind: 'task',
    developerId,
    title: words.title,
    scope: words.scope ?? null,
    description: words.description ?? null,
    action: words.action ?? null,
    component: words.component ?? null,
    files: words.target_files ?? [],
    repo: words.repo ?? (await repoOfSession(tx.db, tx.workspace, ctx.session)) ?? ctx.place?.repo ?? null,
    plannedId,
  };
}

/** A stored task, as the comparison sees it when it is to be started. */
export const plannedSubject = (row: TaskRow): CheckedWork => ({
  kind: 'task',
  developerId: row.developer_id,
  title: row.title,
  scope: row.scope,
  description: row.description,
  action: row.action,
  component: row.component,
  files: filesOf(row),
  repo: row.repo,
  plannedId: row.id,
});

/** Stores the task in a workstream, where the index and the holders of its files can see it. */
export async function addTask(
  tx: Tx,
  ctx: WriteContext,
  subject: CheckedWork,
  words: TaskWords,
  status: 'planned' | 'active',
): Promise<TaskRow & { workstream_id: string }> {
  const { developerId } = subject;
  const workstreamId = words.workstream_id
    ? (await requireOpenWorkstream(tx, developerId, words.workstream_id)).id
    : await chooseWorkstream(tx, ctx, { ...subject, developerId });
  const row = {
    workspace_id: tx.workspace,
    id: newId('task', tx.now),
    developer_id: developerId,
    actor: ctx.principal.actor,
    session_id: ctx.session,
    workstream_id: workstreamId,
    title: subject.title,
    task_type: words.task_type,
    status,
    description: subject.description,
    scope: subject.scope,
    action: subject.action,
    component: subject.component,
    priority: words.priority ?? ('normal' as const),
    target_files: JSON.stringify(subject.files),
    repo: subject.repo,
    result_summary: null,
    summary: null,
    reason: null,
    created_at: tx.now,
    started_at: status === 'active' ? tx.now : null,
    updated_at: tx.now,
    closed_at: null,
  };
  await insertTask(tx.db, row);
  await indexTask(tx, row);
  await markTaskFiles(tx, row);
  record(tx, ctx, {
    category: 'work',
    kind: status === 'planned' ? 'task.planned' : 'task.started',
    subject: row.id,
    payload: { title: row.title, task_type: row.task_type, workstream_id: workstreamId, target_files: subject.files.length },
  });
  return row;
}

export async function indexTask(tx: Tx, row: TaskRow): Promise<void> {
  await indexItem(tx, {
    id: row.id,
    kind: 'task',
    ownerId: row.developer_id,
    title: row.title,
    scope: row.scope,
    description: row.description,
    action: row.action,
    component: row.component,
    taskType: row.task_type,
    status: row.status,
    repo: row.repo,
    files: filesOf(row),
    closedAt: row.closed_at,
  });
}

export async function markTaskFiles(tx: Tx, row: TaskRow): Promise<void> {
  const holder = {
    source: 'task',
    sourceId: row.id,
    developerId: row.developer_id,
    repo: row.repo,
    action: row.action,
    label: row.title,
    expiresAt: null,
  } as const;
  await markFiles(tx, holder, filesOf(row));
}
