import { record, type WriteContext } from '../../../kernel/call.ts';
import { notFound, ok, Refusal, type Reply, refused } from '../../../kernel/reply.ts';
import type { TaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper } from '../../core/identity/index.ts';
import { dropPlanWarning, indexWork, setItemStatus, unmarkFiles } from '../overlap/index.ts';
import { nextOn, requireState, TASK_MACHINE } from './lifecycle.ts';
import { changeTask, findTask } from './store.ts';
import { closeEmptyContainer, storedSubject } from './tasks.ts';

export async function ownTask(tx: Tx, ctx: WriteContext, id: string, field = 'task_id'): Promise<TaskRow> {
  const row = await findTask(tx.db, tx.workspace, id);
  if (row && row.developer_id === callingDeveloper(ctx.principal)) return row;
  throw notFound(
    'TASK_NOT_FOUND',
    `Task ${JSON.stringify(id)} does not exist or is not yours.`,
    'Call covibe_team with operation "state" to see your tasks.',
    field,
  );
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
    throw new Refusal('INVALID_TRANSITION', 'The task is planned. Its `status` changes only when you start or cancel it.', nextOn('task', row), {
      field: 'status',
      from: row.status,
      allowed: ['start_planned', 'cancel'],
    });
  }
  const changed = named(fields).filter((key) => fields[key as keyof typeof fields] !== row[key as keyof TaskRow]);
  if (named(fields).length === 0) throw nothingToDo(row.id, 'title, task_type, description, scope, action, component or priority');
  if (changed.length > 0) {
    const values = Object.fromEntries(changed.map((key) => [key, fields[key as keyof typeof fields]])) as Partial<TaskRow>;
    const edited: TaskRow = { ...row, ...values, updated_at: tx.now };
    await changeTask(tx, row.id, values);
    await indexWork(tx, storedSubject(edited), edited.id, 'planned');
    record(tx, ctx, { category: 'work', kind: 'task.planned_updated', subject: row.id, payload: { title: edited.title, changed } });
  }
  return ok({ task_id: row.id, status: row.status, changed }, changed.length > 0 ? `Changed ${changed.join(', ')}.` : 'All fields already had these values.');
}

export async function setRunning(tx: Tx, ctx: WriteContext, row: TaskRow, fields: object, status: 'active' | 'blocked' | undefined): Promise<Reply<Updated>> {
  requireState(TASK_MACHINE, 'update', 'task', row);
  const edits = named(fields);
  if (edits.length > 0) {
    const data = { task_id: row.id, status: row.status, changed: [], field: edits[0] };
    const next = `Nothing to do: these fields can be edited only while a task is planned. To change the status, call covibe_task with operation "update", task_id "${row.id}" and only status "active" or "blocked".`;
    return refused('warning', 'FIELDS_FIXED', `The task is already started, so ${edits.join(', ')} cannot be edited. Nothing was changed.`, next, data);
  }
  if (status === undefined) throw nothingToDo(row.id, 'status "active" or "blocked"');
  if (row.status !== status) {
    await changeTask(tx, row.id, { status });
    await setItemStatus(tx, row.id, status);
    record(tx, ctx, { category: 'work', kind: 'task.updated', subject: row.id, payload: { title: row.title, from: row.status, to: status } });
  }
  return ok({ task_id: row.id, status, changed: row.status === status ? [] : ['status'] }, `The task is ${status}.`);
}

const nothingToDo = (id: string, what: string): Refusal =>
  new Refusal('INVALID_INPUT', 'The update contains no change.', `Call covibe_task with operation "update", task_id "${id}" and ${what}.`, { field: 'status' });

export async function complete(
  tx: Tx,
  ctx: WriteContext,
  row: TaskRow,
  { result_summary, summary }: { result_summary: string; summary?: string | undefined },
): Promise<Reply<{ task_id: string; status: TaskRow['status'] }>> {
  if (row.status === 'completed') {
    return refused('warning', 'ALREADY_COMPLETED', 'The task is already completed. Nothing was changed.', 'Nothing to do.', {
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
  await changeTask(tx, row.id, { ...values, closed_at: tx.now });
  await setItemStatus(tx, row.id, values.status, tx.now);
  await unmarkFiles(tx, 'task', row.id);
}
