import { record } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput } from '../../../kernel/registry.ts';
import { invalidState, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import {
  addCheckpoint,
  type CheckpointRow,
  changeTask,
  isOneOf,
  newestCheckpoints,
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
  viewCheckpoint,
  viewTask,
  type WorkflowTaskRow,
} from '../workflows/index.ts';
import { availableTools } from './available.ts';
import { claimTools, type ExecutionPorts, markIdle, UNCLAIMED } from './claims.ts';
import { checkpointAdd, checkpointList, MAX_CHECKPOINTS, taskGet, taskReplan, taskSetPlan } from './contract.ts';
import { statusTools } from './status.ts';
import { checkpointsAfter } from './store.ts';

/** More than this no client takes in one answer; details of 64 KiB add up to it soon. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
const PAGE = 200;

const sizeOf = ({ summary, detail, files_changed }: CheckpointRow): number => summary.length + (detail ?? '').length + files_changed.length;

/** Page by page, up to so many and to what an answer can hold, but at least one. `more`: that was not all there are. */
async function readWithin(
  count: number,
  page: (limit: number, last: CheckpointRow | undefined) => Promise<CheckpointRow[]>,
): Promise<{ rows: CheckpointRow[]; more: boolean }> {
  const rows: CheckpointRow[] = [];
  let characters = 0;
  for (;;) {
    const wanted = Math.min(PAGE, count + 1 - rows.length);
    const next = await page(wanted, rows.at(-1));
    for (const row of next) {
      characters += sizeOf(row);
      if (rows.length === count || (rows.length > 0 && characters > MAX_CHARACTERS)) return { rows, more: true };
      rows.push(row);
    }
    if (next.length < wanted) return { rows, more: false };
  }
}

const readTools: Implementation[] = [
  implement(taskGet, {
    read: async ({ id, include_checkpoints, checkpoint_limit }, ctx) => {
      if (checkpoint_limit !== undefined && !include_checkpoints) {
        throw invalidInput([{ field: 'checkpoint_limit', message: 'says nothing without include_checkpoints' }]);
      }
      const task = viewTask(await requireTask(ctx.reader, ctx.workspace, id, 'id'));
      if (!include_checkpoints) return ok(task);
      const wanted = Math.min(checkpoint_limit ?? task.checkpoint_count, task.checkpoint_count);
      const { rows } = await readWithin(wanted, (limit, last) => newestCheckpoints(ctx.reader, ctx.workspace, id, limit, last?.sequence));
      return ok({ ...task, checkpoints: rows.reverse().map(viewCheckpoint), checkpoints_more: wanted - rows.length });
    },
  }),
  implement(checkpointList, {
    read: async ({ task_id, type, since_sequence, limit = MAX_CHECKPOINTS }, ctx) => {
      await requireTask(ctx.reader, ctx.workspace, task_id);
      const { rows, more } = await readWithin(limit, (most, last) =>
        checkpointsAfter(ctx.reader, ctx.workspace, task_id, { types: type, after: last?.sequence ?? since_sequence }, most),
      );
      return ok({ checkpoints: rows.map(viewCheckpoint), more });
    },
  }),
];

const checkpointTools: Implementation[] = [
  implement(checkpointAdd, {
    write: async (tx, { task_id, type, summary, detail, files_changed, ...writer }, ctx) => {
      const task = await requireTask(tx.db, tx.workspace, task_id);
      requireNotEnded(await requireWorkflow(tx.db, tx.workspace, task.workflow_id));
      const agentId = await requireHold(tx, ctx, task, writer);
      const { id, sequence } = await addCheckpoint(tx, task, { type, summary, detail, files_changed, agentId, actor: ctx.principal.actor });
      const payload = { workflow_id: task.workflow_id, checkpoint_id: id, sequence, type, agent_id: agentId };
      record(tx, ctx, { category: 'work', kind: 'workflow.checkpoint_added', subject: task_id, payload });
      return ok({ id, sequence });
    },
  }),
];

export const executionTools = (ports: ExecutionPorts): Implementation[] => [
  ...readTools,
  ...planTools,
  ...statusTools,
  ...checkpointTools,
  ...claimTools(ports),
  ...availableTools,
];

const MAX_CONTEXT = 64 * 1024;
/** A longer plan than this is kept by its beginning: a checkpoint is to be read, not to be an archive. */
const MAX_KEPT = 32 * 1024;

function merged(task: WorkflowTaskRow, added: Record<string, unknown> | undefined): string | null {
  if (added === undefined) return task.context;
  const context = JSON.stringify({ ...readRecord(task.context), ...added });
  if (context.length <= MAX_CONTEXT) return context;
  throw invalidInput([
    { field: 'context', message: `would grow to ${context.length} characters of JSON with what is stored; expected at most ${MAX_CONTEXT}` },
  ]);
}

function keptPlan({ plan }: WorkflowTaskRow): Record<string, unknown> | null {
  const previous = readRecord(plan);
  if (!previous || (plan?.length ?? 0) <= MAX_KEPT) return previous;
  const steps = Array.isArray(previous.steps) ? previous.steps : [];
  return {
    approach: String(previous.approach)
      .slice(0, MAX_KEPT / 4)
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
    `A task that is ${from} cannot be replanned: only one that is ${allowedFrom.join(' or ')} can.`,
    task.status === 'planning' ? 'Set another plan with task_set_plan.' : 'task_get shows where the task stands.',
    { field: 'id', task_id: task.id, from, to, allowed: [...TASK_MACHINE[task.status]], allowed_from: [...allowedFrom] },
  );
}

function requirePlanning(task: WorkflowTaskRow): void {
  if (task.status === 'planning') return;
  const from = shownStatus(task);
  const next =
    from === 'pending' ? 'Set it to planning with task_update_status first.' : 'task_replan gives a new plan to a task that is in progress or failed.';
  throw invalidState(`The task is ${from}: its plan is set while it is in planning.`, next, { field: 'id', task_id: task.id, status: from });
}

/** As it is stored: without the fields that were left out. */
const planJson = (plan: Input<typeof taskSetPlan>['plan']): string => JSON.stringify(plan);

const planTools: Implementation[] = [
  implement(taskSetPlan, {
    write: async (tx, { id, plan, context, ...writer }, ctx) => {
      const task = await requireTask(tx.db, tx.workspace, id, 'id');
      requireNotEnded(await requireWorkflow(tx.db, tx.workspace, task.workflow_id));
      const agent_id = await requireHold(tx, ctx, task, writer);
      requirePlanning(task);
      await changeTask(tx.db, tx.workspace, id, { plan: planJson(plan), context: merged(task, context), updated_at: tx.now });
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
      const detail = { reason, previous_plan: keptPlan(task), from: task.status, error: task.error };
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
