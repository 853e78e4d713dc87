import { record, type Services, type WriteContext } from '../../../kernel/call.ts';
import { notFound, Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRows, insertRows, newId } from '../../../storage/rows.ts';
import type { TaskRow, WorkstreamRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { addItemFiles, bestFit, type CheckedWork, markWorkFiles, setItemOwner } from '../overlap/index.ts';
import { repoOfSession } from '../sessions/index.ts';
import { nextOn, RUNNING } from './lifecycle.ts';
import { changeTask, changeWorkstream, filesOf, findTask, findWorkstream, openTaskIds, orphanTasks, runningTasksOf } from './store.ts';

/** The fields with which a caller describes a task. */
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
  /** The repository of the task. If it is set, the repository of the session is not used. */
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
    taskType: words.task_type,
    files: words.target_files ?? [],
    repo: words.repo ?? (ctx.session && (await repoOfSession(tx.db, tx.workspace, ctx.session))) ?? ctx.place?.repo ?? null,
    plannedId,
  };
}

/** Converts a stored task to the form that the overlap check expects. */
export const storedSubject = (row: TaskRow): CheckedWork => ({
  kind: 'task',
  developerId: row.developer_id,
  title: row.title,
  scope: row.scope,
  description: row.description,
  action: row.action,
  component: row.component,
  taskType: row.task_type,
  files: filesOf(row),
  repo: row.repo,
  plannedId: row.id,
});

/** Stores a new task. Every task belongs to a workstream. */
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
  record(tx, ctx, {
    category: 'work',
    kind: status === 'planned' ? 'task.planned' : 'task.started',
    subject: row.id,
    payload: { title: row.title, task_type: row.task_type, workstream_id: workstreamId, target_files: subject.files.length },
  });
  return row;
}

/** Returns the workstream that a new task refers to. It must belong to the developer and be active or blocked. */
export async function requireOpenWorkstream(tx: Tx, developerId: string, id: string): Promise<WorkstreamRow> {
  const row = await findWorkstream(tx.db, tx.workspace, id);
  if (row?.developer_id !== developerId) {
    throw notFound(
      'WORKSTREAM_NOT_FOUND',
      `Workstream ${JSON.stringify(id)} does not exist or is not yours.`,
      'Call again without `workstream_id`: the server then chooses one.',
      'workstream_id',
    );
  }
  if (row.status !== 'active' && row.status !== 'blocked') {
    throw new Refusal(
      'WORKSTREAM_NOT_OPEN',
      `The workstream is ${row.status}. A task can join only an active or blocked one.`,
      `Call again without \`workstream_id\`.${row.status === 'planned' ? ` Or start the workstream first. ${nextOn('workstream', row)}` : ''}`,
      { field: 'workstream_id', status: row.status },
    );
  }
  return row;
}

interface NewTask {
  readonly developerId: string;
  readonly title: string;
  readonly scope: string | null;
  readonly description: string | null;
}

/** The author of an event: a caller, or the server itself while it starts. */
type EventAuthor = Pick<WriteContext, 'principal' | 'session'> | { readonly principal: { readonly actor: string }; readonly session: null };

const CHOICES = 200;

/** Workstreams that a task of this developer could join, newest first. */
const runningWorkstreams = (db: Db, workspace: string, developerId: string, limit: number): Promise<WorkstreamRow[]> =>
  findRows(db, 'workstreams', { workspace_id: workspace, developer_id: developerId, status: RUNNING }, { order: { id: 'desc' }, limit });

/** Returns the developer's open workstream that fits the task best. If none fits, creates a container, which is a workstream for this task. */
async function chooseWorkstream(tx: Tx, author: EventAuthor, task: NewTask): Promise<string> {
  const choices = await runningWorkstreams(tx.db, tx.workspace, task.developerId, CHOICES);
  return bestFit(task, choices) ?? (await makeContainer(tx, author, task));
}

async function makeContainer(tx: Tx, author: EventAuthor, task: NewTask): Promise<string> {
  const { developerId, title, scope, description } = task;
  const row = await insertWorkstream(tx, author, { developerId, title, description: scope ?? description, status: 'active', auto_created: 1 });
  appendEvent(tx, author, { kind: 'workstream.auto_created', subject: row.id, payload: { title: row.title } });
  return row.id;
}

interface NewWorkstream extends Pick<WorkstreamRow, 'title' | 'description' | 'status' | 'auto_created'> {
  readonly developerId: string;
}

export async function insertWorkstream(tx: Tx, author: EventAuthor, { developerId, ...workstream }: NewWorkstream): Promise<WorkstreamRow> {
  const row: WorkstreamRow = {
    workspace_id: tx.workspace,
    id: newId('wst', tx.now),
    developer_id: developerId,
    session_id: author.session,
    ...workstream,
    result_summary: null,
    reason: null,
    created_at: tx.now,
    updated_at: tx.now,
    closed_at: null,
  };
  await insertRows(tx.db, 'workstreams', row);
  return row;
}

/** Completes a container, which the server had created for a task, once all its tasks are closed. */
export async function closeEmptyContainer(tx: Tx, author: EventAuthor, workstreamId: string | null): Promise<void> {
  const row = workstreamId ? await findWorkstream(tx.db, tx.workspace, workstreamId) : undefined;
  if (!row || row.auto_created === 0 || row.closed_at !== null) return;
  if ((await openTaskIds(tx.db, tx.workspace, row.id)).length > 0) return;
  await changeWorkstream(tx, row.id, { status: 'completed', closed_at: tx.now });
  appendEvent(tx, author, { kind: 'workstream.completed', subject: row.id, payload: { title: row.title, automatic: true } });
}

function appendEvent(tx: Tx, { principal: { actor }, session }: EventAuthor, event: { kind: string; subject: string; payload: Record<string, unknown> }): void {
  tx.append({ category: 'work', actor, session, ...event });
}

/** Makes a planned task active. The task keeps its id. If its workstream was closed in the meantime, it is moved to another workstream. */
export async function activate(tx: Tx, ctx: WriteContext, row: TaskRow): Promise<string> {
  const workstream = row.workstream_id ? await findWorkstream(tx.db, tx.workspace, row.workstream_id) : undefined;
  const isOpen = workstream && workstream.closed_at === null;
  const workstreamId = isOpen ? workstream.id : await chooseWorkstream(tx, ctx, { ...row, developerId: row.developer_id });
  await changeTask(tx, row.id, {
    status: 'active',
    actor: ctx.principal.actor,
    session_id: ctx.session ?? row.session_id,
    workstream_id: workstreamId,
    started_at: tx.now,
  });
  record(tx, ctx, { category: 'work', kind: 'task.started', subject: row.id, payload: { title: row.title, planned: true, workstream_id: workstreamId } });
  return workstreamId;
}

/** Adds the files that an agent is working on to the agent's running tasks. Other work is then compared with these files too. */
export async function noteFiles(tx: Tx, ctx: WriteContext, { sessionId, files }: { sessionId: string | null; files: readonly string[] }): Promise<void> {
  for (const task of await runningTasksOf(tx.db, tx.workspace, { sessionId, actor: ctx.principal.actor })) await addItemFiles(tx, task.id, files);
}

interface HandOver {
  readonly taskIds: readonly string[];
  readonly fromDeveloperId: string;
  readonly toDeveloperId: string;
}

/** Transfers the open tasks that the giver still owns, and returns their ids. */
export async function takeOver(tx: Tx, ctx: WriteContext, { taskIds, fromDeveloperId, toDeveloperId }: HandOver): Promise<string[]> {
  const taken: string[] = [];
  for (const id of taskIds) {
    const row = await findTask(tx.db, tx.workspace, id);
    if (!row || row.developer_id !== fromDeveloperId || row.closed_at !== null) continue;
    // If the receiver is another agent of the same developer, the task stays in its workstream.
    const staysIn = toDeveloperId === fromDeveloperId ? row.workstream_id : null;
    const workstreamId = staysIn ?? (await chooseWorkstream(tx, ctx, { ...row, developerId: toDeveloperId }));
    const moved = { developer_id: toDeveloperId, actor: ctx.principal.actor, session_id: ctx.session, workstream_id: workstreamId, updated_at: tx.now };
    await changeTask(tx, id, moved);
    await setItemOwner(tx, id, toDeveloperId);
    await markWorkFiles(tx, storedSubject({ ...row, ...moved }), id);
    record(tx, ctx, { category: 'work', kind: 'task.handed_over', subject: id, payload: { title: row.title, from: fromDeveloperId, to: toDeveloperId } });
    await closeEmptyContainer(tx, ctx, row.workstream_id);
    taken.push(id);
  }
  return taken;
}

const PAGE = 200;
const SERVER = { principal: { actor: 'server' }, session: null } as const;

/** Every task must have a workstream. At its start, the server assigns one to tasks that were stored without. */
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
  if (adopted > 0) log.info('assigned workstreams to tasks without one', { tasks: adopted });
}
