import type { House } from '../../../kernel/context.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import type { Tx } from '../../../storage/write.ts';
import { indexItems } from '../../team/overlap/index.ts';
import { TOLD_AT_ONCE, workItem } from './overlap.ts';

const EVERY_MS = 2_000;

/** Tells the overlap index of the tasks of long plans, so many at a time. Read first: a server with nothing to tell writes nothing. */
export function indexing({ store }: Pick<House, 'store'>): Sweep {
  return {
    name: 'workflow_index',
    everyMs: EVERY_MS,
    async run() {
      for (;;) {
        const next = await store.reader.selectFrom('workflow_tasks').select('workspace_id').where('indexed', '=', 0).limit(1).executeTakeFirst();
        if (!next || (await store.write(next.workspace_id, tellSome)) === 0) return;
      }
    },
  };
}

async function tellSome(tx: Tx): Promise<number> {
  const rows = await tx.db
    .selectFrom('workflow_tasks as task')
    .innerJoin('workflows as workflow', (join) => join.onRef('workflow.workspace_id', '=', 'task.workspace_id').onRef('workflow.id', '=', 'task.workflow_id'))
    .leftJoin('agents as holder', (join) => join.onRef('holder.workspace_id', '=', 'task.workspace_id').onRef('holder.id', '=', 'task.assigned_agent_id'))
    .selectAll('task')
    .select(['workflow.status as workflow_status', 'workflow.developer_id', 'workflow.repository_path', 'holder.developer_id as holder_id'])
    .where('task.indexed', '=', 0)
    .where('task.workspace_id', '=', tx.workspace)
    .limit(TOLD_AT_ONCE)
    .execute();
  if (rows.length === 0) return 0;
  const items = rows.map((row) => workItem(row, { ...row, status: row.workflow_status }, row.holder_id)).filter((item) => item !== null);
  await indexItems(tx, items);
  const ids = rows.map(({ id }) => id);
  await tx.db.updateTable('workflow_tasks').set({ indexed: 1 }).where('workspace_id', '=', tx.workspace).where('id', 'in', ids).execute();
  return rows.length;
}
