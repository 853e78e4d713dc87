import { Refusal } from '../../../kernel/reply.ts';

export const WORKFLOW_STATUSES = ['planning', 'ready', 'in_progress', 'paused', 'completed', 'failed', 'abandoned'] as const;
export type WorkflowStatus = (typeof WORKFLOW_STATUSES)[number];

/** The statuses that callers see. `blocked` is computed from the dependencies and never stored. */
export const TASK_STATUSES = ['pending', 'blocked', 'planning', 'in_progress', 'paused', 'completed', 'failed', 'skipped'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
/** The statuses that are stored. A removed task stays in the store because of its history, but is never shown. */
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

/** The status changes that `task_update_status` allows. */
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

/** The status changes that the server makes automatically, or as part of another tool. */
export const SYSTEM_MACHINE = {
  /** The agent releases the task, unregisters, or is silent for too long. */
  release: { from: ['planning', 'in_progress', 'paused'], to: 'pending' },
  replan: { from: ['in_progress', 'failed'], to: 'pending' },
  /** The agent asks a person about the task. The answer restores the earlier status. */
  ask: { from: ['planning', 'in_progress'], to: 'paused' },
  remove: { from: ['pending', 'planning', 'failed'], to: 'removed' },
} as const satisfies Record<string, { from: readonly StoredTaskStatus[]; to: StoredTaskStatus }>;

export const OPEN_WORKFLOW = ['ready', 'in_progress'] as const satisfies readonly WorkflowStatus[];
export const ENDED_WORKFLOW = ['completed', 'abandoned'] as const satisfies readonly WorkflowStatus[];
/** The statuses of tasks that are not finished yet. */
export const OPEN_TASK = ['pending', 'planning', 'in_progress', 'paused', 'failed'] as const satisfies readonly StoredTaskStatus[];
/** A dependency in one of these statuses no longer blocks its dependents. */
export const SATISFIED = ['completed', 'skipped'] as const satisfies readonly StoredTaskStatus[];
/** The statuses in which an agent can claim a task. */
export const ACTIONABLE = ['pending', 'failed'] as const satisfies readonly StoredTaskStatus[];

export const isOneOf = <S extends string>(statuses: readonly S[], status: string): status is S => (statuses as readonly string[]).includes(status);

export const isSatisfied = (status: StoredTaskStatus): boolean => isOneOf(SATISFIED, status);
export const isEnded = (status: WorkflowStatus): boolean => isOneOf(ENDED_WORKFLOW, status);

/**
 * Returns the status that callers see. A pending task that waits for other tasks is shown as blocked. Throws for a removed task, because removed tasks
 * are never shown.
 */
export function shownStatus(task: { status: StoredTaskStatus; open_dependencies: number }): TaskStatus {
  if (task.status === 'removed') throw new Error('a removed task has no shown status');
  return task.status === 'pending' && task.open_dependencies > 0 ? 'blocked' : task.status;
}

type Noun = 'workflow' | 'task' | 'workspace';
const STATUS_TOOL = { workflow: 'workflow_update_status', task: 'task_update_status', workspace: 'workspace_update' } as const;
const NEW_ONE = {
  workflow: 'workflow_create',
  task: 'workflow_add_task with workflow_id, name and description',
  workspace: 'workspace_create with workflow_id, path and branch',
} as const;
/** The fields that a call must send with a status. */
const REQUIRED_WITH: Readonly<Record<Noun, Readonly<Record<string, string>>>> = {
  workflow: {},
  task: { completed: ' with outcome', failed: ' with error' },
  workspace: { merged: ' with merge_commit' },
};
/** The subcommands of `covenant workflow` that set a status. */
const COMMANDS: Readonly<Record<Noun, Readonly<Record<string, string>>>> = {
  workflow: { in_progress: 'resume', paused: 'pause', completed: 'complete', abandoned: 'abandon' },
  task: { pending: 'retry', skipped: 'skip' },
  workspace: {},
};

export function requireTransition<S extends string>(machine: Machine<S>, noun: Noun, id: string, from: S, to: string): void {
  const allowed = machine[from];
  if (isOneOf(allowed, to)) return;
  const commands = allowed.flatMap((status) => COMMANDS[noun][status] ?? []).map((command) => `\`covenant workflow ${command} ${id}\``);
  const people = commands.length === 0 ? '' : ` People run ${commands.join(' or ')}.`;
  const next =
    allowed.length === 0
      ? `The status ${from} is final. Create another ${noun}: ${NEW_ONE[noun]}.`
      : noun === 'workflow' && from === 'planning'
        ? // The status "ready" is not suggested, because a workflow that is set to ready without a plan accepts no plan any more.
          `Call workflow_set_plan with id "${id}" and a plan: the workflow is then ready. Or call workflow_update_status with id "${id}" and status "abandoned".${people}`
        : `From ${from}, call ${STATUS_TOOL[noun]} with id "${id}" and status ${allowed.map((status) => `"${status}"${REQUIRED_WITH[noun][status] ?? ''}`).join(' or ')}.${people}`;
  throw new Refusal('INVALID_TRANSITION', `The ${noun} cannot go from ${from} to ${to}.`, next, {
    field: 'status',
    [`${noun}_id`]: id,
    from,
    to,
    allowed: [...allowed],
  });
}
