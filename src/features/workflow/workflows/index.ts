import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { WorkflowPorts } from './change-workflow.ts';
import { indexSweep } from './overlap.ts';
import { workflowTools } from './tools.ts';

export type { CheckpointRow, WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
export { changeParallelism, changeStatus, type WorkflowPorts } from './change-workflow.ts';
export { addCheckpoint, newestCheckpoints } from './checkpoints.ts';
export { createWorkflow } from './create-workflow.ts';
export { checkPlan } from './graph.ts';
export { dependenciesOf, edgesOf } from './graph-store.ts';
export { type ClaimProof, requireHold } from './hold.ts';
export * from './lifecycle.ts';
export { readNextTasks } from './next.ts';
export { syncOverlapOwner, syncOverlapStatus } from './overlap.ts';
export { pageOfTasks, pageOfWorkflows } from './pages.ts';
export { allComplete, countByStatus, countsByWorkflow, progress, type WorkflowCounts } from './progress.ts';
export { setPlan } from './set-plan.ts';
export {
  activeTasks,
  changeTask,
  changeWorkflow,
  claimedBeside,
  claimedCount,
  findTask,
  findWorkflow,
  findWorkflowOf,
  requireFound,
  requireNotEnded,
  requireRunning,
  requireTask,
  requireWorkflow,
  satisfyDependents,
  taskNamed,
  workflowNamed,
} from './store.ts';
export { planOf, readRecord, readStrings, summariseWorkflow, viewCheckpoint, viewTask, viewWorkflow } from './views.ts';

export const workflows = (services: Pick<Services, 'store' | 'log'>, ports: WorkflowPorts): Feature => ({
  name: 'workflows',
  implementations: workflowTools(ports),
  keeps: [{ what: 'Workflows, their tasks and checkpoints', ms: null }],
  sweeps: [indexSweep(services)],
});
