import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { type InputIssue, invalidInput, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { settleAll } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { findAgent } from '../agents/index.ts';
import {
  addCheckpoint,
  allComplete,
  changeTask,
  changeWorkflow,
  findTask,
  findWorkflowOf,
  isSatisfied,
  requireFound,
  requireHold,
  requireNotEnded,
  requireRunning,
  requireTransition,
  satisfyDependents,
  shownStatus,
  syncOverlapOwner,
  syncOverlapStatus,
  TASK_MACHINE,
  type TaskStatus,
  type WorkflowRow,
  type WorkflowTaskRow,
} from '../workflows/index.ts';
import { awaitingAnswer, taskBlocked } from './claims.ts';
import { SUMMARY_CHARACTERS, taskUpdateStatus } from './contract.ts';
import { markIdle, UNCLAIMED } from './release.ts';

export const statusTools: Implementation[] = [
  implement(taskUpdateStatus, {
    write: async (tx, input, ctx) => {
      const { changed, workflow } = await updateTaskStatus(tx, ctx, input);
      const over = input.status === 'completed' || input.status === 'skipped';
      const rest = over ? { all_complete: await allComplete(tx.db, workflow) } : {};
      return ok({ success: true as const, changed, workflow_status: workflow.status, ...rest });
    },
  }),
];

interface StepResult {
  readonly outcome?: string | undefined;
  readonly outcome_detail?: Record<string, unknown> | undefined;
  readonly error?: string | undefined;
}

type SetStatus = Exclude<TaskStatus, 'blocked'>;

/** Changes the status of a task for an agent or a person. Returns whether anything changed, and the workflow as it is after the change. */
export async function updateTaskStatus(tx: Tx, ctx: WriteContext, input: Input<typeof taskUpdateStatus>): Promise<{ changed: boolean; workflow: WorkflowRow }> {
  const { db, workspace } = tx;
  const [found, around, named] = await settleAll([
    findTask(db, workspace, input.id),
    findWorkflowOf(db, workspace, input.id),
    input.agent_id === undefined ? Promise.resolve(undefined) : findAgent(db, workspace, input.agent_id),
  ]);
  const task = requireFound(found, input.id, 'id');
  const workflow = around as WorkflowRow;
  const agentId = await requireHold(tx, ctx, task, input, named);
  const from = shownStatus(task);
  const to: typeof input.status = input.status;
  if (from === to) return { changed: false, workflow };
  // These checks come after the return above, because a caller that lost the answer must be able to repeat the call.
  requireNotEnded(workflow);
  requireStep(task, to);
  await requireNoObstacle(tx, task, workflow, to);
  requireResult(task, to, input);
  const values = changes(tx, task, to, input, agentId);
  await settleAll([
    changeTask(db, workspace, task.id, { ...values, status: to, updated_at: tx.now }),
    ...(isSatisfied(to) ? [satisfyDependents(db, workspace, task.id)] : []),
    ...(values.assigned_agent_id === null ? [markIdle(tx, task.assigned_agent_id, [task.id])] : []),
    syncOverlapStatus(tx, task, to),
  ]);
  const checkpoint_id = to === 'failed' ? await keepError(tx, ctx, task, input, agentId) : undefined;
  record(tx, ctx, {
    category: 'work',
    kind: 'workflow.task_status_changed',
    subject: task.id,
    payload: { workflow_id: workflow.id, from, to, agent_id: agentId, checkpoint_id },
  });
  if (to === 'failed') await syncOverlapOwner(tx, task.id, null);
  const status = to === 'in_progress' ? await startWorkflow(tx, ctx, workflow) : workflow.status;
  return { changed: true, workflow: { ...workflow, status } };
}

/** Lists, for each field, the new statuses with which it may be sent. With another status, the call is refused, because the field would be ignored silently. */
const BELONGS: Readonly<Record<keyof StepResult, readonly TaskStatus[]>> = {
  outcome: ['completed', 'skipped'],
  outcome_detail: ['completed', 'failed', 'skipped'],
  error: ['failed'],
};

/**
 * Refuses status changes that the table does not allow. A change from blocked to planning passes this check, so that `requireNoObstacle` can refuse it
 * with a list of the dependencies.
 */
function requireStep(task: WorkflowTaskRow, to: TaskStatus): asserts to is SetStatus {
  const from = shownStatus(task);
  const details = { field: 'status', task_id: task.id, from, to, allowed: from === 'blocked' ? [] : [...TASK_MACHINE[from]] };
  if (to === 'blocked') {
    throw new Refusal(
      'INVALID_TRANSITION',
      'The status blocked cannot be set: the server computes it from the dependencies.',
      `Call task_check_dependencies with task_id "${task.id}" to see what blocks the task.`,
      details,
    );
  }
  if (from !== 'blocked') return requireTransition(TASK_MACHINE, 'task', task.id, from, to);
  if (to === 'planning') return;
  const next = `Complete or skip its dependencies first. Call task_check_dependencies with task_id "${task.id}" to see them.`;
  throw new Refusal('INVALID_TRANSITION', `The task is blocked by its dependencies, so it cannot go to ${to}.`, next, details);
}

function requireResult(task: WorkflowTaskRow, to: SetStatus, result: StepResult): void {
  if (to === 'completed' && !result.outcome) {
    const next = `Call task_update_status again with id "${task.id}", status "completed" and an outcome: the result, for tasks that build on it.`;
    throw new Refusal('MISSING_OUTCOME', 'Status completed requires an outcome.', next, {
      field: 'outcome',
      task_id: task.id,
    });
  }
  if (to === 'failed' && !result.error) {
    const next = `Call task_update_status again with id "${task.id}", status "failed" and an error: what went wrong, for the next attempt.`;
    throw new Refusal('MISSING_ERROR', 'Status failed requires an error.', next, {
      field: 'error',
      task_id: task.id,
    });
  }
  const misplaced = Object.entries(BELONGS).flatMap(([field, statuses]): InputIssue[] =>
    result[field as keyof StepResult] === undefined || statuses.includes(to)
      ? []
      : [{ field, message: `is only allowed with status ${statuses.join(' or ')}, not with ${to}` }],
  );
  if (misplaced.length > 0) throw invalidInput(misplaced);
}

async function requireNoObstacle(tx: Tx, task: WorkflowTaskRow, workflow: WorkflowRow, to: SetStatus): Promise<void> {
  if (to === 'planning' && task.open_dependencies > 0) throw await taskBlocked(tx.db, task);
  if (to === 'planning') requireRunning(workflow);
  if (task.question_id !== null) throw awaitingAnswer(task);
}

/** Returns the changes to the row in addition to the new status. */
function changes(tx: Tx, task: WorkflowTaskRow, to: SetStatus, { outcome, outcome_detail, error }: StepResult, by: string | null): Partial<WorkflowTaskRow> {
  const detail = outcome_detail === undefined ? task.outcome_detail : JSON.stringify(outcome_detail);
  switch (to) {
    case 'in_progress':
      return { started_at: task.started_at ?? tx.now };
    case 'completed':
      return { ...UNCLAIMED, outcome: outcome ?? null, outcome_detail: detail, completed_by: by, finished_at: tx.now };
    case 'skipped':
      return { ...UNCLAIMED, outcome: outcome || null, outcome_detail: detail, finished_at: tx.now };
    case 'failed':
      return { ...UNCLAIMED, error: error ?? null, outcome_detail: detail };
    case 'pending':
      return { error: null, outcome: null, outcome_detail: null };
    default:
      return {};
  }
}

/** A workflow starts when its first task is in progress. It never ends automatically, because more tasks may be added. */
async function startWorkflow(tx: Tx, ctx: WriteContext, workflow: WorkflowRow): Promise<WorkflowRow['status']> {
  if (workflow.status !== 'ready') return workflow.status;
  await changeWorkflow(tx.db, tx.workspace, workflow.id, {
    status: 'in_progress',
    status_reason: null,
    started_at: workflow.started_at ?? tx.now,
    updated_at: tx.now,
  });
  const payload = { from: 'ready', to: 'in_progress', reason: 'automatic' };
  record(tx, ctx, { category: 'work', kind: 'workflow.status_changed', subject: workflow.id, payload });
  return 'in_progress';
}

/** A retry deletes the error of the task, so the error is also stored in a checkpoint for the next agent. */
async function keepError(
  tx: Tx,
  ctx: WriteContext,
  task: WorkflowTaskRow,
  { error = '', outcome_detail }: StepResult,
  agentId: string | null,
): Promise<string> {
  const summary = excerpt(error, SUMMARY_CHARACTERS);
  const detail = { ...(summary === error ? {} : { error }), ...(outcome_detail ? { outcome_detail } : {}) };
  const { actor } = ctx.principal;
  const { id } = await addCheckpoint(tx, task, { type: 'error', summary, detail: Object.keys(detail).length > 0 ? detail : undefined, agentId, actor });
  return id;
}
