import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { Preflight } from '../overlap/index.ts';
import { adoptOrphans } from './tasks.ts';
import { taskTools } from './tools.ts';
import { workstreamTools } from './workstreams.ts';

export type { TaskRow } from '../../../storage/schema-rows.ts';
export type { TaskView } from './contract.ts';
export { filesOf, ownsTask, ownsWorkstream, tasksBy, tasksInHand, viewTask, workstreamsBy } from './store.ts';
export { noteFiles, takeOver } from './tasks.ts';

export const tasks = (preflight: Preflight): Feature => ({
  name: 'tasks',
  implementations: [...workstreamTools(preflight), ...taskTools(preflight)],
  keeps: [{ what: 'Tasks and workstreams', ms: null }],
  start: (services: Services) => adoptOrphans(services),
});
