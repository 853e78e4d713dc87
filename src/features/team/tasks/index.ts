import type { Services, WriteContext } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import type { Tx } from '../../../storage/write.ts';
import { addItemFiles, type Preflight } from '../overlap/index.ts';
import { findTask, runningTasksOf } from './store.ts';
import { adoptOrphans } from './tasks.ts';
import { taskTools } from './tools.ts';
import { workstreamTools } from './workstream-tools.ts';
import { findWorkstream } from './workstreams.ts';

export type { TaskRow } from '../../../storage/schema-rows.ts';
export type { TaskView } from './contract.ts';
export { filesOf, tasksBy, tasksInHand, viewTask } from './store.ts';
export { takeOver } from './tasks.ts';
export { workstreamsBy } from './workstreams.ts';

export async function ownsTask(db: Db, workspace: string, developerId: string, id: string): Promise<boolean> {
  return (await findTask(db, workspace, id))?.developer_id === developerId;
}

export async function ownsWorkstream(db: Db, workspace: string, developerId: string, id: string): Promise<boolean> {
  return (await findWorkstream(db, workspace, id))?.developer_id === developerId;
}

/** Files that an agent has in hand belong to what it is at work on: others are compared with them too. */
export async function noteFiles(tx: Tx, ctx: WriteContext, { sessionId, files }: { sessionId: string | null; files: readonly string[] }): Promise<void> {
  for (const task of await runningTasksOf(tx.db, tx.workspace, { sessionId, actor: ctx.principal.actor })) await addItemFiles(tx, task.id, files);
}

export const tasks = (preflight: Preflight): Feature => ({
  name: 'tasks',
  implementations: [...workstreamTools(preflight), ...taskTools(preflight)],
  keeps: [{ what: 'Tasks and workstreams', ms: null }],
  start: (services: Services) => adoptOrphans(services),
});
