import { Refusal } from '../../../kernel/reply.ts';

export const WORK_STATUSES = ['planned', 'active', 'blocked', 'completed', 'cancelled'] as const;
export type WorkStatus = (typeof WORK_STATUSES)[number];

/** The statuses of started work. `update` may set either of them. */
export const RUNNING = ['active', 'blocked'] as const satisfies readonly WorkStatus[];
export const OPEN = ['planned', 'active', 'blocked'] as const satisfies readonly WorkStatus[];

export type WorkOperation = 'start_planned' | 'update' | 'edit' | 'complete' | 'cancel';

/**
 * The states in which each operation is allowed. If completed work is completed again, that is harmless and returns a warning instead of an error.
 */
export type LifecycleTable = Readonly<Record<WorkOperation, readonly WorkStatus[]>>;

export const TASK_MACHINE: LifecycleTable = {
  start_planned: ['planned'],
  edit: ['planned'],
  update: ['active', 'blocked'],
  complete: ['active', 'blocked'],
  cancel: ['planned', 'active', 'blocked'],
};

/** A started workstream can be completed but not cancelled, because it contains the history of its tasks. */
export const WORKSTREAM_MACHINE: LifecycleTable = { ...TASK_MACHINE, cancel: ['planned'] };

/** Returns the next step for work in this state: the calls that are allowed and their arguments. */
export function nextOn(noun: 'task' | 'workstream', { id, status }: { id: string; status: WorkStatus }): string {
  const tool = `covibe_${noun}`;
  if (status === 'planned') {
    const check = noun === 'task' ? `its title, task_type and planned_task_id "${id}"` : 'its title';
    const start = `Call ${tool} with operation "check" and ${check}, then with operation "start_planned" and planned_${noun}_id "${id}".`;
    return `${start} To cancel it instead, use operation "cancel" with ${noun}_id "${id}" and a reason.`;
  }
  if (status === 'active' || status === 'blocked') return `Call ${tool} with operation "complete", ${noun}_id "${id}" and a result_summary.`;
  return `Closed work cannot be changed or reopened. For new work, call ${tool} with operation "check", then "start".`;
}

export function requireState(machine: LifecycleTable, operation: WorkOperation, noun: 'task' | 'workstream', row: { id: string; status: WorkStatus }): void {
  const allowed = machine[operation];
  if (allowed.includes(row.status)) return;
  throw new Refusal('INVALID_TRANSITION', `The ${noun} is ${row.status}. \`${operation}\` requires it to be ${allowed.join(' or ')}.`, nextOn(noun, row), {
    [`${noun}_id`]: row.id,
    from: row.status,
    allowed: [...allowed],
  });
}
