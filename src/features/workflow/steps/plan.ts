import { record } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput, invalidState, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import {
  addCheckpoint,
  changeTask,
  isOneOf,
  readRecord,
  requireHold,
  requireNotEnded,
  requireTask,
  requireWorkflow,
  SYSTEM_MACHINE,
  shownStatus,
  syncOverlapOwner,
  syncOverlapStatus,
  TASK_MACHINE,
  type WorkflowTaskRow,
} from '../workflows/index.ts';
import { taskReplan, taskSetPlan } from './contract.ts';
import { markIdle, UNCLAIMED } from './release.ts';

export const planTools: Implementation[] = [
  implement(taskSetPlan, {
    write: async (tx, { id, plan, context, ...writer }, ctx) => {
      const task = await requireTask(tx.db, tx.workspace, id, 'id');
      requireNotEnded(await requireWorkflow(tx.db, tx.workspace, task.workflow_id));
      const agent_id = await requireHold(tx, ctx, task, writer);
      requirePlanning(task);
      await changeTask(tx.db, tx.workspace, id, { plan: planJson(plan), context: mergeContext(task, context), updated_at: tx.now });
      const payload = { workflow_id: task.workflow_id, agent_id, steps: plan.steps.length };
      record(tx, ctx, { category: 'work', kind: 'workflow.task_planned', subject: id, payload });
      return ok({ success: true as const });
    },
  }),
  implement(taskReplan, {
    write: async (tx, { id, reason, new_plan, ...writer }, ctx) => {
      const task = await requireTask(tx.db, tx.workspace, id, 'id');
      requireNotEnded(await requireWorkflow(tx.db, tx.workspace, task.workflow_id));
      const agentId = await requireHold(tx, ctx, task, writer);
      requireReplannable(task);
      const status = SYSTEM_MACHINE.replan.to;
      const fence = task.fence + 1;
      const cleared = { outcome: null, outcome_detail: null, error: null };
      await changeTask(tx.db, tx.workspace, id, { ...UNCLAIMED, ...cleared, plan: planJson(new_plan), status, fence, updated_at: tx.now });
      const detail = { reason, previous_plan: shortenPlan(task), from: task.status, error: task.error };
      const { actor } = ctx.principal;
      const checkpoint = await addCheckpoint(tx, task, { type: 'replan', summary: `Replanned: ${reason}`, detail, agentId, actor });
      const payload = { workflow_id: task.workflow_id, agent_id: agentId, from: task.status, to: status, fence, checkpoint_id: checkpoint.id };
      record(tx, ctx, { category: 'work', kind: 'workflow.task_replanned', subject: id, payload });
      await markIdle(tx, task.assigned_agent_id, [id]);
      await syncOverlapStatus(tx, task, status);
      await syncOverlapOwner(tx, id, null);
      return ok({ success: true as const, checkpoint_id: checkpoint.id });
    },
  }),
];

const MAX_CONTEXT = 64 * 1024;
/** Maximum size of a plan in a checkpoint. Only the beginning of a longer plan is stored, because agents read whole checkpoints. */
const MAX_STORED_PLAN = 32 * 1024;

function mergeContext(task: WorkflowTaskRow, added: Record<string, unknown> | undefined): string | null {
  if (added === undefined) return task.context;
  const context = JSON.stringify({ ...readRecord(task.context), ...added });
  if (context.length <= MAX_CONTEXT) return context;
  throw invalidInput([
    { field: 'context', message: `would grow to ${context.length} characters of JSON together with the stored context; expected at most ${MAX_CONTEXT}` },
  ]);
}

function shortenPlan({ plan }: WorkflowTaskRow): Record<string, unknown> | null {
  const previous = readRecord(plan);
  if (!previous || (plan?.length ?? 0) <= MAX_STORED_PLAN) return previous;
  const steps = Array.isArray(previous.steps) ? previous.steps : [];
  return {
    approach: String(previous.approach)
      .slice(0, MAX_STORED_PLAN / 4)
      .toWellFormed(),
    steps: steps.slice(0, 10),
    step_count: steps.length,
    truncated: true,
  };
}

function requireReplannable(task: WorkflowTaskRow): void {
  const { from: allowedFrom, to } = SYSTEM_MACHINE.replan;
  if (isOneOf(allowedFrom, task.status)) return;
  const from = shownStatus(task);
  throw new Refusal(
    'INVALID_TRANSITION',
    `The task is ${from}. Only a task that is ${allowedFrom.join(' or ')} can be replanned.`,
    task.status === 'planning'
      ? `Set another plan: task_set_plan with id "${task.id}" and a plan.`
      : `Call task_get with id "${task.id}" to see its current state.`,
    { field: 'id', task_id: task.id, from, to, allowed: [...TASK_MACHINE[task.status]], allowed_from: [...allowedFrom] },
  );
}

function requirePlanning(task: WorkflowTaskRow): void {
  if (task.status === 'planning') return;
  const from = shownStatus(task);
  const next =
    from === 'pending'
      ? `First call task_update_status with id "${task.id}" and status "planning".`
      : isOneOf(SYSTEM_MACHINE.replan.from, task.status)
        ? `To give it a new plan, call task_replan with id "${task.id}", a reason and new_plan.`
        : `Call task_get with id "${task.id}" to see its current state.`;
  throw invalidState(`The task is ${from}. Its plan can be set only while it is in planning.`, next, { field: 'id', task_id: task.id, status: from });
}

/** Returns the plan in the form that is stored. Fields that the caller left out do not appear in it. */
const planJson = (plan: Input<typeof taskSetPlan>['plan']): string => JSON.stringify(plan);
