import type { Principal } from '../src/kernel/call.ts';
import { DEFAULT_WORKSPACE_ID } from '../src/kernel/ids.ts';
import type { App } from '../src/main.ts';
import { madeTask } from './tasks.ts';

export interface StoreSize {
  readonly tasks: number;
  readonly events: number;
  readonly graph: number;
}

const BATCH_SIZE = 100;
const GROUPS = 25;

/** Fills the store with tasks, events and one workflow, in the same way as calls of agents would. Returns the id of the workflow. */
export async function fill(app: App, principal: Principal, { tasks, events, graph }: StoreSize): Promise<string> {
  const call = async (name: string, args: object) => {
    const { reply } = await app.dispatch.tool({ name, args: { ...args }, principal, surface: 'api' });
    if (reply.status === 'error') throw new Error(`${name}: ${reply.message}`);
    return ('data' in reply ? reply.data : {}) as Record<string, unknown>;
  };
  for (let made = 0; made < tasks; made += BATCH_SIZE) {
    await Promise.all(
      Array.from({ length: Math.min(BATCH_SIZE, tasks - made) }, (_, index) => {
        const { title, scope, files } = madeTask(made + index);
        return call('covibe_task', { operation: 'plan', title, scope, task_type: 'feature', target_files: files });
      }),
    );
  }
  const event = { category: 'usage', kind: 'tool.called', actor: principal.actor, subject: 'tool:clock', payload: { outcome: 'ok', duration_ms: 2 } } as const;
  for (let made = 0; made < events; made += 1_000) {
    await app.store.append(
      DEFAULT_WORKSPACE_ID,
      Array.from({ length: Math.min(1_000, events - made) }, () => event),
    );
  }
  const { id } = await call('workflow_create', { name: 'large', source_type: 'prompt', source_content: 'Many tasks.', repository_path: '/repositories/large' });
  await call('workflow_set_plan', {
    id,
    plan: { summary: 'Many', approach: 'Group by group', tasks: Array.from({ length: graph }, (_, index) => planned(index, graph)) },
  });
  return String(id);
}

/** A task of the graph. The graph is a sequence of groups, and each group contains a few parallel chains of tasks. */
function planned(index: number, all: number) {
  const size = Math.ceil(all / GROUPS);
  const group = Math.floor(index / size);
  const before = index % size < 8 ? index - size : index - 8;
  return {
    name: `Task ${index}`,
    description: `Number ${index} of ${all}.`,
    sequence: index,
    parallel_group: `group ${group}`,
    ...(before >= 0 && { depends_on: [`Task ${before}`] }),
  };
}
