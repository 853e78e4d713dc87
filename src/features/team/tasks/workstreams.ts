import type { WriteContext } from '../../../kernel/call.ts';
import { newId } from '../../../kernel/ids.ts';
import { notFound, Refusal } from '../../../kernel/reply.ts';
import { findBySuffix } from '../../../kernel/tail.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, findRows, insertRows, matching, rowsById } from '../../../storage/rows.ts';
import type { WorkstreamRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { bestFit } from '../overlap/index.ts';
import { OPEN, RUNNING, type WorkStatus } from './lifecycle.ts';

interface NewTask {
  readonly developerId: string;
  readonly title: string;
  readonly scope: string | null;
  readonly description: string | null;
}

/** By whom an event is written: a caller, or the server itself when it starts. */
type Voice = Pick<WriteContext, 'principal' | 'session'> | { readonly principal: { readonly actor: string }; readonly session: null };

const CHOICES = 200;

/** The developer's own workstream that a task names, which must still be open. */
export async function requireOpenWorkstream(tx: Tx, developerId: string, id: string): Promise<WorkstreamRow> {
  const row = await findWorkstream(tx.db, tx.workspace, id);
  if (row?.developer_id !== developerId) {
    throw notFound('workstream', `You have no workstream ${JSON.stringify(id)}.`, 'Leave workstream_id out, and the server chooses one.', 'workstream_id');
  }
  if (row.status !== 'active' && row.status !== 'blocked') {
    throw new Refusal(
      'WORKSTREAM_NOT_OPEN',
      `The workstream is ${row.status}; tasks join an active or blocked one.`,
      'Leave workstream_id out, or start it first.',
      { field: 'workstream_id', status: row.status },
    );
  }
  return row;
}

/** The best matching open workstream of the developer; where none matches, a container made for the task. */
export async function chooseWorkstream(tx: Tx, voice: Voice, task: NewTask): Promise<string> {
  const choices = await runningWorkstreams(tx.db, tx.workspace, task.developerId, CHOICES);
  return bestFit(task, choices) ?? (await makeContainer(tx, voice, task));
}

async function makeContainer(tx: Tx, voice: Voice, task: NewTask): Promise<string> {
  const row: WorkstreamRow = {
    workspace_id: tx.workspace,
    id: newId('wst', tx.now),
    developer_id: task.developerId,
    session_id: voice.session,
    title: task.title,
    description: task.scope ?? task.description,
    status: 'active',
    auto_created: 1,
    result_summary: null,
    reason: null,
    created_at: tx.now,
    updated_at: tx.now,
    closed_at: null,
  };
  await insertRows(tx.db, 'workstreams', row);
  tell(tx, voice, { kind: 'workstream.auto_created', subject: row.id, payload: { title: row.title } });
  return row.id;
}

/** A container has no purpose of its own: it ends with its last open task. */
export async function closeEmptyContainer(tx: Tx, voice: Voice, workstreamId: string | null): Promise<void> {
  const row = workstreamId ? await findWorkstream(tx.db, tx.workspace, workstreamId) : undefined;
  if (!row || row.auto_created === 0 || row.closed_at !== null) return;
  if ((await openTaskIds(tx.db, tx.workspace, row.id)).length > 0) return;
  await changeRows(tx.db, 'workstreams', { workspace_id: tx.workspace, id: row.id }, { status: 'completed', updated_at: tx.now, closed_at: tx.now });
  tell(tx, voice, { kind: 'workstream.completed', subject: row.id, payload: { title: row.title, automatic: true } });
}

function tell(tx: Tx, { principal: { actor }, session }: Voice, event: { kind: string; subject: string; payload: Record<string, unknown> }): void {
  tx.append({ category: 'work', actor, session, ...event });
}

export const findWorkstream = (db: Db, workspace: string, id: string): Promise<WorkstreamRow | undefined> =>
  findRow(db, 'workstreams', { workspace_id: workspace, id });

export async function titlesOf(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await rowsById(db, 'workstreams', workspace, ids);
  return new Map(Array.from(rows, ([id, { title }]) => [id, title]));
}

/** Where a task of this developer could belong, newest first. */
const runningWorkstreams = (db: Db, workspace: string, developerId: string, limit: number): Promise<WorkstreamRow[]> =>
  findRows(db, 'workstreams', { workspace_id: workspace, developer_id: developerId, status: RUNNING }, { order: { id: 'desc' }, limit });

export const workstreamsBy = (db: Db, workspace: string, statuses: readonly WorkStatus[], limit: number): Promise<WorkstreamRow[]> =>
  findRows(db, 'workstreams', { workspace_id: workspace, status: statuses }, { order: { updated_at: 'desc', id: 'desc' }, limit });

export async function openTaskIds(db: Db, workspace: string, workstreamId: string): Promise<string[]> {
  const rows = await matching(db, 'tasks', { workspace_id: workspace, workstream_id: workstreamId, status: OPEN }).select('id').execute();
  // Sorted here: asked for in order, SQLite would read every task of the workspace in that order instead.
  return rows.map(({ id }) => id).sort();
}

export async function countTasksIn(db: Db, workspace: string, workstreamId: string): Promise<{ all: number; open: number }> {
  const rows = await db
    .selectFrom('tasks')
    .select(['status', (eb) => eb.fn.countAll<string | number>().as('count')])
    .where('workspace_id', '=', workspace)
    .where('workstream_id', '=', workstreamId)
    .groupBy('status')
    .execute();
  const sum = (some: typeof rows): number => some.reduce((all, { count }) => all + Number(count), 0);
  return { all: sum(rows), open: sum(rows.filter(({ status }) => OPEN.some((open) => open === status))) };
}

export const workstreamNamed = (db: Db, workspace: string, tail: string): Promise<WorkstreamRow> =>
  findBySuffix(matching(db, 'workstreams', { workspace_id: workspace }).selectAll(), tail, 'workstream');

export const plannedWithTitle = (db: Db, workspace: string, developerId: string, title: string): Promise<WorkstreamRow | undefined> =>
  findRow(db, 'workstreams', { workspace_id: workspace, developer_id: developerId, status: 'planned', title }, { id: 'desc' });
