import { Refusal } from '../../../kernel/reply.ts';

export const WORKFLOW_STATUSES = ['planning', 'ready', 'in_progress', 'paused', 'completed', 'failed', 'abandoned'] as const;
export type WorkflowStatus = (typeof WORKFLOW_STATUSES)[number];

/** The statuses that callers see. `blocked` is computed from the dependencies and never stored. */
export const TASK_STATUSES = ['pending', 'blocked', 'planning', 'in_progress', 'paused', 'completed', 'failed', 'skipped'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
/** The statuses in the store. A removed task keeps its history and is shown to nobody. */
export type StoredTaskStatus = Exclude<TaskStatus, 'blocked'> | 'removed';

type Machine<S extends string> = Readonly<Record<S, readonly S[]>>;

export const WORKFLOW_MACHINE: Machine<WorkflowStatus> = {
  planning: ['ready', 'abandoned'],
  ready: ['in_progress', 'abandoned'],
  in_progress: ['paused', 'completed', 'failed', 'abandoned'],
  paused: ['in_progress', 'abandoned'],
  failed: ['in_progress', 'abandoned'],
  completed: [],
  abandoned: [],
};

/** The changes that `task_update_status` allows. */
export const TASK_MACHINE: Machine<StoredTaskStatus> = {
  pending: ['planning'],
  planning: ['in_progress'],
  in_progress: ['completed', 'paused', 'failed'],
  paused: ['in_progress'],
  failed: ['pending', 'skipped'],
  completed: [],
  skipped: [],
  removed: [],
};

/** The changes that the server makes by itself, or as part of another tool. */
export const SYSTEM_MACHINE = {
  /** Release, a silent agent, unregistering. */
  release: { from: ['planning', 'in_progress', 'paused'], to: 'pending' },
  replan: { from: ['in_progress', 'failed'], to: 'pending' },
  /** A question to a person; its answer leads back to where the task was. */
  ask: { from: ['planning', 'in_progress'], to: 'paused' },
  remove: { from: ['pending', 'planning', 'failed'], to: 'removed' },
} as const satisfies Record<string, { from: readonly StoredTaskStatus[]; to: StoredTaskStatus }>;

export const OPEN_WORKFLOW = ['ready', 'in_progress'] as const satisfies readonly WorkflowStatus[];
export const ENDED_WORKFLOW = ['completed', 'abandoned'] as const satisfies readonly WorkflowStatus[];
/** Still to be done, in whichever state. */
export const OPEN_TASK = ['pending', 'planning', 'in_progress', 'paused', 'failed'] as const satisfies readonly StoredTaskStatus[];
/** A dependency in one of these no longer holds anybody up. */
export const SATISFIED = ['completed', 'skipped'] as const satisfies readonly StoredTaskStatus[];
/** The statuses in which an agent can claim a task. */
export const ACTIONABLE = ['pending', 'failed'] as const satisfies readonly StoredTaskStatus[];

export const isOneOf = <S extends string>(statuses: readonly S[], status: string): status is S => (statuses as readonly string[]).includes(status);

export const isSatisfied = (status: StoredTaskStatus): boolean => isOneOf(SATISFIED, status);
export const isEnded = (status: WorkflowStatus): boolean => isOneOf(ENDED_WORKFLOW, status);

/** As it is shown: a task that waits for others is blocked. Nobody is shown a removed one. */
export function shownStatus(task: { status: StoredTaskStatus; open_dependencies: number }): TaskStatus {
  if (task.status === 'removed') throw new Error('a removed task is shown to nobody');
  return task.status === 'pending' && task.open_dependencies > 0 ? 'blocked' : task.status;
}

export function requireTransition<S extends string>(machine: Machine<S>, noun: 'workflow' | 'task' | 'workspace', id: string, from: S, to: string): void {
  const allowed = machine[from];
  if (isOneOf(allowed, to)) return;
  const next =
    allowed.length > 0
      ? `From ${from} it can go to ${allowed.join(' or ')}.`
      : `${from} is final: a ${noun} that has ended stays as it is. Make a new one instead.`;
  throw new Refusal('INVALID_TRANSITION', `The ${noun} cannot go from ${from} to ${to}.`, next, {
    field: 'status',
    [`${noun}_id`]: id,
    from,
    to,
    allowed: [...allowed],
  });
}
