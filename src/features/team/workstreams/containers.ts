import type { WriteContext } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { changeRows, insertRows } from '../../../storage/rows.ts';
import type { WorkstreamRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { bestFit } from '../overlap/index.ts';
import { findWorkstream, openTaskIds, runningWorkstreams } from './store.ts';

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
    throw new Refusal('WORKSTREAM_NOT_FOUND', `You have no workstream ${JSON.stringify(id)}.`, 'Leave workstream_id out, and the server chooses one.', {
      field: 'workstream_id',
    });
  }
  if (row.status !== 'active' && row.status !== 'blocked') {
    throw new Refusal(
      'WORKSTREAM_NOT_OPEN',
      `The workstream is ${row.status}; tasks join an active or blocked one.`,
      'Leave workstream_id out, or start it first.',
      {
        field: 'workstream_id',
        status: row.status,
      },
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
