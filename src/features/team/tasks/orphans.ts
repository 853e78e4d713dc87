import type { Services } from '../../../kernel/context.ts';
import { chooseWorkstream, closeEmptyContainer } from '../workstreams/index.ts';
import { changeTask, findTask, orphanTasks } from './store.ts';

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
        await changeTask(tx.db, workspace_id, id, { workstream_id: workstreamId });
        await closeEmptyContainer(tx, SERVER, workstreamId);
        return 1;
      });
    }
  }
  if (adopted > 0) log.info('tasks without a workstream got one', { tasks: adopted });
}
