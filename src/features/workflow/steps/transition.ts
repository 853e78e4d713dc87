import { Refusal } from '../../../kernel/errors.ts';
import { type Issue, invalidInput } from '../../../kernel/input.ts';
import { requireTransition, shownStatus, TASK_MACHINE, type TaskStatus, type WorkflowTaskRow } from '../workflows/index.ts';

export interface Result {
  readonly outcome?: string | undefined;
  readonly outcome_detail?: Record<string, unknown> | undefined;
  readonly error?: string | undefined;
}

export type SetStatus = Exclude<TaskStatus, 'blocked'>;

/** With which statuses a field has a meaning. Elsewhere it would be dropped without a word, and so is refused. */
const BELONGS: Readonly<Record<keyof Result, readonly TaskStatus[]>> = {
  outcome: ['completed', 'skipped'],
  outcome_detail: ['completed', 'failed', 'skipped'],
  error: ['failed'],
};

/** The table allows the step. A task that waits for others has none until they are done, and planning is not asked of here. */
export function requireStep(task: WorkflowTaskRow, to: TaskStatus): asserts to is SetStatus {
  const from = shownStatus(task);
  const details = { field: 'status', task_id: task.id, from, to, allowed: from === 'blocked' ? [] : [...TASK_MACHINE[from]] };
  if (to === 'blocked') {
    throw new Refusal('INVALID_TRANSITION', 'blocked cannot be set: it is worked out from the dependencies.', 'Leave the status as it is.', details);
  }
  if (from !== 'blocked') return requireTransition(TASK_MACHINE, 'task', task.id, from, to);
  if (to === 'planning') return;
  const next = 'Complete or skip what it depends on: task_check_dependencies names it.';
  throw new Refusal('INVALID_TRANSITION', `The task cannot go from blocked to ${to}.`, next, details);
}

export function requireResult(task: WorkflowTaskRow, to: SetStatus, result: Result): void {
  if (to === 'completed' && !result.outcome) {
    throw new Refusal('MISSING_OUTCOME', 'A task is completed with an outcome.', 'Say in outcome what came of it, for whoever builds on it.', {
      field: 'outcome',
      task_id: task.id,
    });
  }
  if (to === 'failed' && !result.error) {
    throw new Refusal('MISSING_ERROR', 'A task fails with an error.', 'Say in error what went wrong, for whoever tries again.', {
      field: 'error',
      task_id: task.id,
    });
  }
  const misplaced = Object.entries(BELONGS).flatMap(([field, statuses]): Issue[] =>
    result[field as keyof Result] === undefined || statuses.includes(to)
      ? []
      : [{ field, message: `belongs to status ${statuses.join(' or ')}, not to ${to}` }],
  );
  if (misplaced.length > 0) throw invalidInput(misplaced);
}
