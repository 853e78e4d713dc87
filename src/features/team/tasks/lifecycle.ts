import { Refusal } from '../../../kernel/reply.ts';

export const WORK_STATUSES = ['planned', 'active', 'blocked', 'completed', 'cancelled'] as const;
export type WorkStatus = (typeof WORK_STATUSES)[number];

/** The statuses that update may set on started work. */
export const RUNNING = ['active', 'blocked'] as const satisfies readonly WorkStatus[];
export const OPEN = ['planned', 'active', 'blocked'] as const satisfies readonly WorkStatus[];

export type WorkOperation = 'start_planned' | 'update' | 'edit' | 'complete' | 'cancel';

/** The states in which each operation is allowed. Completing twice has its own reply, because it is harmless. */
export type LifecycleTable = Readonly<Record<WorkOperation, readonly WorkStatus[]>>;

export const TASK_MACHINE: LifecycleTable = {
  start_planned: ['planned'],
  edit: ['planned'],
  update: ['active', 'blocked'],
  complete: ['active', 'blocked'],
  cancel: ['planned', 'active', 'blocked'],
};

/** Started workstreams hold the history of their tasks: they end by completion alone. */
export const WORKSTREAM_MACHINE: LifecycleTable = { ...TASK_MACHINE, cancel: ['planned'] };

const NEXT: Readonly<Record<WorkStatus, string>> = {
  planned: 'It is planned: start it with operation "start_planned", or cancel it.',
  active: 'It is under way: finish it with operation "complete".',
  blocked: 'It is under way: finish it with operation "complete".',
  completed: 'It is completed, and completed work cannot be changed or reopened. Plan or start new work instead.',
  cancelled: 'It is cancelled, and cancelled work cannot be changed or reopened. Plan or start new work instead.',
};

export function requireState(machine: LifecycleTable, operation: WorkOperation, noun: 'task' | 'workstream', row: { id: string; status: WorkStatus }): void {
  const allowed = machine[operation];
  if (allowed.includes(row.status)) return;
  throw new Refusal('INVALID_TRANSITION', `The ${noun} is ${row.status}; ${operation} needs ${allowed.join(' or ')}.`, NEXT[row.status], {
    [`${noun}_id`]: row.id,
    from: row.status,
    allowed: [...allowed],
  });
}
