import { record, type WriteContext } from '../../../kernel/context.ts';
import type { Tx } from '../../../storage/write.ts';
import { setItemOwner } from '../overlap/index.ts';
import { chooseWorkstream, closeEmptyContainer } from '../workstreams/index.ts';
import { markTaskFiles } from './begin.ts';
import { changeTask, findTask } from './store.ts';

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
    await changeTask(tx.db, tx.workspace, id, moved);
    await setItemOwner(tx, id, toDeveloperId);
    await markTaskFiles(tx, { ...row, ...moved });
    record(tx, ctx, { category: 'work', kind: 'task.handed_over', subject: id, payload: { title: row.title, from: fromDeveloperId, to: toDeveloperId } });
    await closeEmptyContainer(tx, ctx, row.workstream_id);
    taken.push(id);
  }
  return taken;
}
