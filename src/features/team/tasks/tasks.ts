import { record, type Services, type WriteContext } from '../../../kernel/call.ts';
import { newId } from '../../../kernel/ids.ts';
import { notFound, ok, Refusal, type Reply, refused } from '../../../kernel/reply.ts';
import { changeRows, insertRows } from '../../../storage/rows.ts';
import type { TaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper } from '../../core/identity/index.ts';
import { addItemFiles, type CheckedWork, dropPlanWarning, indexItem, markFiles, setItemOwner, setItemStatus, unmarkFiles } from '../overlap/index.ts';
import { repoOfSession } from '../sessions/index.ts';
import { requireState, TASK_MACHINE } from './lifecycle.ts';
import { filesOf, findTask, orphanTasks, runningTasksOf } from './store.ts';
import { chooseWorkstream, closeEmptyContainer, findWorkstream, requireOpenWorkstream } from './workstreams.ts';

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
    repo: words.repo ?? (ctx.session && (await repoOfSession(tx.db, tx.workspace, ctx.session))) ?? ctx.place?.repo ?? null,
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
  await insertRows(tx.db, 'tasks', row);
  await indexTask(tx, row, subject);
  record(tx, ctx, {
    category: 'work',
    kind: status === 'planned' ? 'task.planned' : 'task.started',
    subject: row.id,
    payload: { title: row.title, task_type: row.task_type, workstream_id: workstreamId, target_files: subject.files.length },
  });
  return row;
}

/** What the work is, for those who compare theirs with it, and which files it has in hand. */
async function indexTask(tx: Tx, row: TaskRow, subject: CheckedWork): Promise<void> {
  await indexItem(tx, { ...subject, id: row.id, ownerId: row.developer_id, taskType: row.task_type, status: row.status, closedAt: row.closed_at });
  await markTaskFiles(tx, row, subject.files);
}

async function markTaskFiles(tx: Tx, { id, developer_id, repo, action, title }: TaskRow, files: readonly string[]): Promise<void> {
  await markFiles(tx, { source: 'task', sourceId: id, developerId: developer_id, repo, action, label: title, expiresAt: null }, files);
}

export async function ownTask(tx: Tx, ctx: WriteContext, id: string, field = 'task_id'): Promise<TaskRow> {
  const row = await findTask(tx.db, tx.workspace, id);
  if (row && row.developer_id === callingDeveloper(ctx.principal)) return row;
  throw notFound('task', `You have no task ${JSON.stringify(id)}.`, 'covibe_team state lists yours.', field);
}

/** Planned work becomes active under its own id. Its workstream may have been closed in the meantime. */
export async function activate(tx: Tx, ctx: WriteContext, row: TaskRow): Promise<string> {
  const workstream = row.workstream_id ? await findWorkstream(tx.db, tx.workspace, row.workstream_id) : undefined;
  const isOpen = workstream && workstream.closed_at === null;
  const workstreamId = isOpen ? workstream.id : await chooseWorkstream(tx, ctx, { ...row, developerId: row.developer_id });
  await changeRows(
    tx.db,
    'tasks',
    { workspace_id: tx.workspace, id: row.id },
    {
      status: 'active',
      actor: ctx.principal.actor,
      session_id: ctx.session ?? row.session_id,
      workstream_id: workstreamId,
      started_at: tx.now,
      updated_at: tx.now,
    },
  );
  await setItemStatus(tx, row.id, 'active');
  record(tx, ctx, { category: 'work', kind: 'task.started', subject: row.id, payload: { title: row.title, planned: true, workstream_id: workstreamId } });
  return workstreamId;
}

type Editable = Partial<Pick<TaskRow, 'title' | 'task_type' | 'priority'>> & {
  description?: string | undefined;
  scope?: string | undefined;
  action?: TaskRow['action'] | undefined;
  component?: string | undefined;
};
type Updated = { task_id: string; status: TaskRow['status']; changed: string[] };

const named = (fields: object): string[] => Object.keys(fields).filter((key) => fields[key as keyof typeof fields] !== undefined);

export async function editPlanned(
  tx: Tx,
  ctx: WriteContext,
  row: TaskRow,
  fields: { [K in keyof Editable]?: Editable[K] | undefined },
  status: string | undefined,
): Promise<Reply<Updated>> {
  if (status !== undefined) {
    throw new Refusal('INVALID_TRANSITION', 'status: the task is planned and stays so until it is started.', 'Start it with operation "start_planned".', {
      field: 'status',
      from: row.status,
      allowed: ['start_planned', 'cancel'],
    });
  }
  const changed = named(fields).filter((key) => fields[key as keyof typeof fields] !== row[key as keyof TaskRow]);
  if (named(fields).length === 0) throw nothingToDo('a field to edit');
  if (changed.length > 0) {
    const values = Object.fromEntries(changed.map((key) => [key, fields[key as keyof typeof fields]])) as Partial<TaskRow>;
    const edited: TaskRow = { ...row, ...values, updated_at: tx.now };
    await changeRows(tx.db, 'tasks', { workspace_id: tx.workspace, id: row.id }, { ...values, updated_at: tx.now });
    await indexTask(tx, edited, plannedSubject(edited));
    record(tx, ctx, { category: 'work', kind: 'task.planned_updated', subject: row.id, payload: { title: edited.title, changed } });
  }
  return ok({ task_id: row.id, status: row.status, changed }, changed.length > 0 ? `Changed ${changed.join(', ')}.` : 'It was so already.');
}

export async function setRunning(tx: Tx, ctx: WriteContext, row: TaskRow, fields: object, status: 'active' | 'blocked' | undefined): Promise<Reply<Updated>> {
  requireState(TASK_MACHINE, 'update', 'task', row);
  const edits = named(fields);
  if (edits.length > 0) {
    const data = { task_id: row.id, status: row.status, changed: [], field: edits[0] };
    const next = 'Send status alone; what the work is can only be edited while it is planned.';
    return refused('warning', 'FIELDS_FIXED', `The task is started: ${edits.join(', ')} stayed as it was, and nothing was changed.`, next, data);
  }
  if (status === undefined) throw nothingToDo('status');
  if (row.status !== status) {
    await changeRows(tx.db, 'tasks', { workspace_id: tx.workspace, id: row.id }, { status, updated_at: tx.now });
    await setItemStatus(tx, row.id, status);
    record(tx, ctx, { category: 'work', kind: 'task.updated', subject: row.id, payload: { title: row.title, from: row.status, to: status } });
  }
  return ok({ task_id: row.id, status, changed: row.status === status ? [] : ['status'] }, `It is ${status}.`);
}

const nothingToDo = (what: string): Refusal => new Refusal('INVALID_INPUT', `Nothing to update: give ${what}.`, 'Send what is to change.', { field: 'status' });

export async function complete(
  tx: Tx,
  ctx: WriteContext,
  row: TaskRow,
  { result_summary, summary }: { result_summary: string; summary?: string | undefined },
): Promise<Reply<{ task_id: string; status: TaskRow['status'] }>> {
  if (row.status === 'completed') {
    return refused('warning', 'ALREADY_COMPLETED', 'The task is completed already; nothing was changed.', 'Nothing to do.', {
      task_id: row.id,
      status: row.status,
    });
  }
  requireState(TASK_MACHINE, 'complete', 'task', row);
  await close(tx, row, { status: 'completed', result_summary, summary: summary ?? result_summary });
  const payload = { title: row.title, task_type: row.task_type, result_summary: result_summary.slice(0, 1_000) };
  record(tx, ctx, { category: 'work', kind: 'task.completed', subject: row.id, payload });
  await closeEmptyContainer(tx, ctx, row.workstream_id);
  return ok({ task_id: row.id, status: 'completed' }, 'Completed.');
}

export async function cancel(tx: Tx, ctx: WriteContext, row: TaskRow, reason: string): Promise<Reply<{ task_id: string; status: TaskRow['status'] }>> {
  requireState(TASK_MACHINE, 'cancel', 'task', row);
  await close(tx, row, { status: 'cancelled', reason });
  await dropPlanWarning(tx, ctx, row.id);
  record(tx, ctx, { category: 'work', kind: 'task.cancelled', subject: row.id, payload: { title: row.title, from: row.status, reason } });
  await closeEmptyContainer(tx, ctx, row.workstream_id);
  return ok({ task_id: row.id, status: 'cancelled' }, 'Cancelled.');
}

async function close(tx: Tx, row: TaskRow, values: Partial<TaskRow> & { status: 'completed' | 'cancelled' }): Promise<void> {
  await changeRows(tx.db, 'tasks', { workspace_id: tx.workspace, id: row.id }, { ...values, updated_at: tx.now, closed_at: tx.now });
  await setItemStatus(tx, row.id, values.status, tx.now);
  await unmarkFiles(tx, 'task', row.id);
}

/** Files that an agent has in hand belong to what it is at work on: others are compared with them too. */
export async function noteFiles(tx: Tx, ctx: WriteContext, { sessionId, files }: { sessionId: string | null; files: readonly string[] }): Promise<void> {
  for (const task of await runningTasksOf(tx.db, tx.workspace, { sessionId, actor: ctx.principal.actor })) await addItemFiles(tx, task.id, files);
}

interface HandOver {
  readonly taskIds: readonly string[];
  readonly fromDeveloperId: string;
  readonly toDeveloperId: string;
}

/** The receiver takes over what the giver still owns and has not finished. The ids of what really changed hands. */
export async function takeOver(tx: Tx, ctx: WriteContext, { taskIds, fromDeveloperId, toDeveloperId }: HandOver): Promise<string[]> {
  const taken: string[] = [];
  for (const id of taskIds) {
    const row = await findTask(tx.db, tx.workspace, id);
    if (!row || row.developer_id !== fromDeveloperId || row.closed_at !== null) continue;
    // Another agent of the same developer goes on in the same workstream.
    const staysIn = toDeveloperId === fromDeveloperId ? row.workstream_id : null;
    const workstreamId = staysIn ?? (await chooseWorkstream(tx, ctx, { ...row, developerId: toDeveloperId }));
    const moved = { developer_id: toDeveloperId, actor: ctx.principal.actor, session_id: ctx.session, workstream_id: workstreamId, updated_at: tx.now };
    await changeRows(tx.db, 'tasks', { workspace_id: tx.workspace, id: id }, moved);
    await setItemOwner(tx, id, toDeveloperId);
    await markTaskFiles(tx, { ...row, ...moved }, filesOf(row));
    record(tx, ctx, { category: 'work', kind: 'task.handed_over', subject: id, payload: { title: row.title, from: fromDeveloperId, to: toDeveloperId } });
    await closeEmptyContainer(tx, ctx, row.workstream_id);
    taken.push(id);
  }
  return taken;
}

const PAGE = 200;
const SERVER = { principal: { actor: 'server' }, session: null } as const;

/** Every task has a workstream. Rows that were stored without one get theirs when the server starts. */
export async function adoptOrphans({ store, log }: Services): Promise<void> {
  let adopted = 0;
  for (;;) {
    const orphans = await orphanTasks(store.reader, PAGE);
    if (orphans.length === 0) break;
    for (const { workspace_id, id } of orphans) {
      adopted += await store.write(workspace_id, async (tx) => {
        const task = await findTask(tx.db, workspace_id, id);
        if (!task || task.workstream_id !== null) return 0;
        const workstreamId = await chooseWorkstream(tx, SERVER, { ...task, developerId: task.developer_id });
        await changeRows(tx.db, 'tasks', { workspace_id, id: id }, { workstream_id: workstreamId });
        await closeEmptyContainer(tx, SERVER, workstreamId);
        return 1;
      });
    }
  }
  if (adopted > 0) log.info('tasks without a workstream got one', { tasks: adopted });
}
