import type { House } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { indexing } from './indexing.ts';
import type { WorkflowPorts } from './status.ts';
import { workflowTools } from './tools.ts';

export type { CheckpointRow, WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
export { addCheckpoint } from './checkpoint.ts';
export { createWorkflow } from './create.ts';
export { checkPlan } from './dag.ts';
export { dependenciesOf, edgesOf } from './graph-store.ts';
export { requireFound, requireHold, requireNotEnded, requireRunning, requireTask, requireWorkflow, type Writer } from './hold.ts';
export * from './lifecycle.ts';
export { pageOfTasks, pageOfWorkflows } from './listing.ts';
export { taskNamed, workflowNamed } from './named.ts';
export { allComplete, nextOf } from './next.ts';
export { tellOwner, tellStatus } from './overlap.ts';
export { changeParallelism } from './parallelism.ts';
export { setPlan } from './plan.ts';
export { countsByWorkflow, progress, type WorkflowCounts } from './progress.ts';
export { changeStatus, type WorkflowPorts } from './status.ts';
export {
  changeTask,
  changeWorkflow,
  claimedBeside,
  claimedCount,
  findTask,
  findWorkflow,
  findWorkflowOf,
  newestCheckpoints,
  satisfyDependents,
  standingTasks,
} from './store.ts';
export { planOf, readRecord, readStrings, summariseWorkflow, viewCheckpoint, viewTask, viewWorkflow } from './views.ts';

export const workflows = (house: Pick<House, 'store'>, ports: WorkflowPorts): Feature => ({
  name: 'workflows',
  implementations: workflowTools(ports),
  keeps: [{ what: 'Workflows, their tasks and checkpoints', ms: null }],
  sweeps: [indexing(house)],
});
