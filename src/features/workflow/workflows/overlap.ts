import type { Services } from '../../../kernel/call.ts';
import { inEachWorkspace, type Sweep } from '../../../kernel/sweep.ts';
import type { Db } from '../../../storage/engine.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { indexItems, itemsById, setItemOwner, setItemStatus, setItemsStatus, type WorkItem } from '../../team/overlap/index.ts';
import { isEnded, type StoredTaskStatus } from './lifecycle.ts';
import { findTask, findWorkflow } from './store.ts';
import { readStrings } from './views.ts';

/** Workflow tasks are added to the overlap index too, so that teammates who plan the same work find them. */

const ITEM_STATUS = {
  pending: 'planned',
  failed: 'planned',
  planning: 'active',
  in_progress: 'active',
  paused: 'blocked',
  completed: 'completed',
  skipped: 'cancelled',
  removed: 'cancelled',
} as const satisfies Record<StoredTaskStatus, WorkItem['status']>;

const OVER: ReadonlySet<WorkItem['status']> = new Set(['completed', 'cancelled']);

type Indexed = Pick<WorkflowTaskRow, 'id' | 'name' | 'description' | 'files' | 'status' | 'finished_at' | 'updated_at'>;
type Owning = Pick<WorkflowRow, 'developer_id' | 'repository_path' | 'status'>;

/** Returns null if the operator created the workflow, because its tasks belong to no developer. */
function workItem(task: Indexed, workflow: Owning, holder: string | null = null): WorkItem | null {
  const ownerId = holder ?? workflow.developer_id;
  if (workflow.developer_id === null || ownerId === null) return null;
  const status = isEnded(workflow.status) && task.status !== 'completed' ? 'cancelled' : ITEM_STATUS[task.status];
  return {
    id: task.id,
    kind: 'workflow_task',
    ownerId,
    title: task.name,
    scope: null,
    description: task.description === '' ? null : task.description,
    action: null,
    component: null,
    taskType: null,
    status,
    repo: workflow.repository_path,
    files: readStrings(task.files),
    closedAt: OVER.has(status) ? (task.finished_at ?? task.updated_at) : null,
  };
}

/**
 * Call this whenever the status of a task changes, with the row from before the change. A task that is not indexed yet is skipped: it is indexed
 * later, with the status that it has by then.
 */
export async function syncOverlapStatus(tx: Tx, task: Pick<WorkflowTaskRow, 'id' | 'status' | 'indexed'>, status: StoredTaskStatus): Promise<void> {
  const itemStatus = ITEM_STATUS[status];
  if (task.indexed === 0 || ITEM_STATUS[task.status] === itemStatus) return;
  await setItemStatus(tx, task.id, itemStatus, OVER.has(itemStatus) ? tx.now : null);
}

/** Sets the owner of a task in the overlap index. If `developerId` is null, the task is unclaimed, and the owner is the developer of the workflow. */
export async function syncOverlapOwner(tx: Tx, taskId: string, developerId: string | null): Promise<void> {
  const item = (await itemsById(tx.db, tx.workspace, [taskId])).get(taskId);
  if (!item) return;
  const ownerId = developerId ?? (await developerOf(tx.db, tx.workspace, taskId));
  if (ownerId !== null && ownerId !== item.owner_id) await setItemOwner(tx, taskId, ownerId);
}

async function developerOf(db: Db, workspace: string, taskId: string): Promise<string | null> {
  const task = await findTask(db, workspace, taskId);
  return (task && (await findWorkflow(db, workspace, task.workflow_id)))?.developer_id ?? null;
}

/**
 * At most this many tasks are indexed at once. The rest of a long plan is indexed later in batches, because one long transaction would block all other
 * writers.
 */
export const INDEXED_AT_ONCE = 500;

/** Adds tasks to the overlap index. The caller must store these tasks with `indexed` set to 1. */
export async function indexTasks(tx: Tx, tasks: readonly WorkflowTaskRow[], workflow: WorkflowRow): Promise<void> {
  const items = tasks.map((task) => workItem(task, workflow)).filter((item) => item !== null);
  await indexItems(tx, items);
}

/** Closes the open tasks of an ended workflow in the overlap index. If the workflow was abandoned, also closes its completed tasks. */
export async function closeIndexedTasks(tx: Tx, workflow: WorkflowRow): Promise<void> {
  const unchanged: StoredTaskStatus[] = workflow.status === 'abandoned' ? ['skipped', 'removed'] : ['completed', 'skipped', 'removed'];
  const over = tx.db.selectFrom('workflow_tasks').where('workspace_id', '=', tx.workspace).where('workflow_id', '=', workflow.id);
  const indexed = await over.select('id').where('indexed', '=', 1).where('status', 'not in', unchanged).execute();
  const ids = indexed.map(({ id }) => id);
  if (workflow.developer_id !== null) await setItemsStatus(tx, ids, 'cancelled', tx.now);
  await tx.db
    .updateTable('workflow_tasks')
    .set({ indexed: 1 })
    .where('workspace_id', '=', tx.workspace)
    .where('workflow_id', '=', workflow.id)
    .where('indexed', '=', 0)
    .execute();
}

const EVERY_MS = 2_000;

/** Indexes the rest of long plans in batches. Looks for such tasks before it starts a transaction, so that an idle server writes nothing. */
export function indexSweep({ store, log }: Pick<Services, 'store' | 'log'>): Sweep {
  const name = 'workflow_index';
  return {
    name,
    everyMs: EVERY_MS,
    async run() {
      const waiting = await store.reader.selectFrom('workflow_tasks').select('workspace_id').distinct().where('indexed', '=', 0).execute();
      const workspaces = waiting.map(({ workspace_id }) => workspace_id);
      await inEachWorkspace(log, name, workspaces, async (workspace) => {
        while ((await store.write(workspace, indexSome)) === INDEXED_AT_ONCE);
      });
    },
  };
}

async function indexSome(tx: Tx): Promise<number> {
  const rows = await tx.db
    .selectFrom('workflow_tasks as task')
    .innerJoin('workflows as workflow', (join) => join.onRef('workflow.workspace_id', '=', 'task.workspace_id').onRef('workflow.id', '=', 'task.workflow_id'))
    .leftJoin('agents as holder', (join) => join.onRef('holder.workspace_id', '=', 'task.workspace_id').onRef('holder.id', '=', 'task.assigned_agent_id'))
    .selectAll('task')
    .select(['workflow.status as workflow_status', 'workflow.developer_id', 'workflow.repository_path', 'holder.developer_id as holder_id'])
    .where('task.indexed', '=', 0)
    .where('task.workspace_id', '=', tx.workspace)
    .limit(INDEXED_AT_ONCE)
    .execute();
  if (rows.length === 0) return 0;
  const items = rows.map((row) => workItem(row, { ...row, status: row.workflow_status }, row.holder_id)).filter((item) => item !== null);
  await indexItems(tx, items);
  const ids = rows.map(({ id }) => id);
  await tx.db.updateTable('workflow_tasks').set({ indexed: 1 }).where('workspace_id', '=', tx.workspace).where('id', 'in', ids).execute();
  return rows.length;
}
