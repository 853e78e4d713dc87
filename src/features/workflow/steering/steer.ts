import type { WriteContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Tx } from '../../../storage/write.ts';
import { releaseTask, requireClaimed, updateTaskStatus } from '../steps/index.ts';
import {
  changeParallelism,
  changeStatus,
  claimedCount,
  createWorkflow,
  requireTask,
  shownStatus,
  taskNamed,
  type WorkflowPorts,
  type WorkflowStatus,
  workflowNamed,
} from '../workflows/index.ts';
import {
  abandonWorkflow,
  completeWorkflow,
  createByHand,
  pauseWorkflow,
  releaseClaim,
  resumeWorkflow,
  retryTask,
  setParallelismByHand,
  skipTask,
} from './contract.ts';

const STATUSES = [
  [pauseWorkflow, 'paused'],
  [resumeWorkflow, 'in_progress'],
  [completeWorkflow, 'completed'],
  [abandonWorkflow, 'abandoned'],
] as const satisfies readonly (readonly [unknown, WorkflowStatus])[];

export const workflowSteering = (ports: WorkflowPorts): Implementation[] => [
  implement(createByHand, {
    write: async (tx, { prompt, ...spec }, ctx) => {
      const made = await createWorkflow(tx, ctx, { ...spec, source_type: 'prompt', source_content: prompt, auto_create_workspaces: false });
      const { id, name, max_parallel_tasks, repository_path } = made;
      return ok({ id, name, status: 'planning' as const, max_parallel_tasks, repository_path });
    },
  }),
  ...STATUSES.map(([contract, status]) =>
    implement(contract, {
      write: async (tx, { workflow_id, reason }, ctx) => {
        const workflow = await workflowNamed(tx.db, tx.workspace, workflow_id);
        const changed = await changeStatus(tx, ctx, workflow, status, reason, ports);
        return ok({ workflow_id: workflow.id, name: workflow.name, status, changed, claims: await claimedCount(tx.db, tx.workspace, workflow.id) });
      },
    }),
  ),
  implement(setParallelismByHand, {
    write: async (tx, { workflow_id, max_parallel_tasks }, ctx) => {
      const workflow = await workflowNamed(tx.db, tx.workspace, workflow_id);
      await changeParallelism(tx, ctx, workflow, { max_parallel_tasks });
      return ok({ workflow_id: workflow.id, from: workflow.max_parallel_tasks, max_parallel_tasks });
    },
  }),
];

export const taskSteering: Implementation[] = [
  implement(retryTask, {
    write: async (tx, { task_id }, ctx) => {
      const { id } = await taskNamed(tx.db, tx.workspace, task_id);
      const { changed } = await updateTaskStatus(tx, ctx, { id, status: 'pending' });
      return ok(await answered(tx, id, changed));
    },
  }),
  implement(skipTask, {
    write: async (tx, { task_id, reason }, ctx) => {
      const { id } = await taskNamed(tx.db, tx.workspace, task_id);
      const { changed } = await updateTaskStatus(tx, ctx, { id, status: 'skipped', outcome: reason });
      return ok(await answered(tx, id, changed));
    },
  }),
  implement(releaseClaim, {
    write: async (tx, { task_id, reason = 'released by a person' }, ctx) => {
      const { id, agent_id } = await release(tx, ctx, task_id, reason);
      return ok({ ...(await answered(tx, id, true)), agent_id });
    },
  }),
];

async function release(tx: Tx, ctx: WriteContext, tail: string, reason: string): Promise<{ id: string; agent_id: string }> {
  const task = await taskNamed(tx.db, tx.workspace, tail);
  const agent_id = requireClaimed(task);
  await releaseTask(tx, task, { reason, actor: ctx.principal.actor, session: ctx.session });
  return { id: task.id, agent_id };
}

/** Reads the task again, so that the answer contains its state after the change. */
async function answered(tx: Tx, id: string, changed: boolean): Promise<Output<typeof retryTask>> {
  const task = await requireTask(tx.db, tx.workspace, id);
  return { task_id: id, name: task.name, workflow_id: task.workflow_id, status: shownStatus(task), changed };
}
