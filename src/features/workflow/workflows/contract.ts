import { z } from 'zod';
import { contract, id, READ, repoPath, repositoryPath, text, title } from '../../../kernel/contract.ts';
import { TASK_STATUSES, WORKFLOW_STATUSES } from './lifecycle.ts';

export const SOURCE_TYPES = ['prompt', 'github_issue', 'linear', 'jira', 'custom'] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];
export const COMPLEXITIES = ['low', 'medium', 'high'] as const;
export const CHECKPOINT_TYPES = ['plan', 'progress', 'decision', 'error', 'recovery', 'complete', 'replan'] as const;

export { TASK_STATUSES, WORKFLOW_STATUSES } from './lifecycle.ts';

export const MAX_TASKS = 10_000;
const MAX_PARALLEL = 1_000;

export const name = title.max(200);
const description = z.string().max(8_000);

export const maxParallel = z.int().min(1).max(MAX_PARALLEL).describe('How many tasks can be claimed at the same time. 1: one after another.');

export const files = z.array(repoPath).max(500);
const capabilities = z.array(title.max(60)).max(20);

const sequence = z.int().min(0).max(1_000_000);

/** The fields of a task in a plan or template. Dependencies are the names of other tasks in the same plan. */
const plannedTaskFields = {
  name,
  description,
  sequence: sequence.describe('Order in the plan. Tasks that can run in parallel share one.'),
  parallel_group: title.max(100).optional().describe('Tasks of one group can run in parallel.'),
  depends_on: z.array(name).max(500).optional().describe('Names of tasks that must be completed first.'),
  capabilities: capabilities.optional().describe('Capabilities that an agent needs to be offered the task.'),
};

export const plannedTask = z.strictObject({
  ...plannedTaskFields,
  estimated_complexity: z.enum(COMPLEXITIES).optional(),
  files_likely_affected: files.optional(),
});
export type PlannedTask = z.output<typeof plannedTask>;

export const tasksOf = <T extends z.ZodType>(task: T) => z.array(task).min(1, { error: 'expected at least one task' }).max(MAX_TASKS);

/** Fields that identify the agent that writes. If a task is claimed, only the agent that claimed it may write to it. */
export const writer = {
  agent_id: id.optional().describe('Your agent, from agent_register. Optional if it was registered with this token.'),
  fence: z.int().min(0).optional().describe('The fence from task_claim. A write with an old fence is refused.'),
};

export const reason = text(2_000);

const json = z.record(z.string(), z.unknown());

export const checkpointView = z.strictObject({
  id: z.string(),
  task_id: z.string(),
  sequence: z.int(),
  type: z.enum(CHECKPOINT_TYPES),
  summary: z.string(),
  detail: json.nullable(),
  files_changed: z.array(z.string()),
  agent_id: z.string().nullable(),
  created_at: z.int(),
});
export type CheckpointView = z.output<typeof checkpointView>;

/** A task with all fields that tools return. */
export const taskView = z.strictObject({
  id: z.string(),
  workflow_id: z.string(),
  name: z.string(),
  description: z.string(),
  sequence: z.int(),
  parallel_group: z.string().nullable(),
  status: z.enum(TASK_STATUSES),
  estimated_complexity: z.enum(COMPLEXITIES).nullable(),
  files_likely_affected: z.array(z.string()),
  capabilities: z.array(z.string()),
  plan: json.nullable(),
  context: json,
  outcome: z.string().nullable(),
  outcome_detail: json.nullable(),
  error: z.string().nullable(),
  assigned_agent_id: z.string().nullable(),
  claimed_at: z.int().nullable(),
  fence: z.int(),
  completed_by: z.string().nullable(),
  workspace_id: z.string().nullable().describe('The git worktree that the task is assigned to.'),
  question_id: z.string().nullable().describe('The question to a person that pauses the task.'),
  checkpoint_count: z.int(),
  created_at: z.int(),
  updated_at: z.int(),
  started_at: z.int().nullable(),
  finished_at: z.int().nullable(),
});
export type WorkflowTaskView = z.output<typeof taskView>;

export const workflowPlan = z.strictObject({
  summary: z.string(),
  approach: z.string(),
  risks: z.array(z.string()),
  assumptions: z.array(z.string()),
});

export const workflowSummary = z.strictObject({
  id: z.string(),
  name: z.string(),
  status: z.enum(WORKFLOW_STATUSES),
  source_type: z.enum(SOURCE_TYPES),
  source_ref: z.string().nullable(),
  repository_path: z.string(),
  plan_summary: z.string().nullable(),
  max_parallel_tasks: z.int(),
  auto_create_workspaces: z.boolean(),
  created_at: z.int(),
  updated_at: z.int(),
  started_at: z.int().nullable(),
  finished_at: z.int().nullable(),
});

/** A workflow with its source and plan. */
export const workflowView = z.strictObject({
  ...workflowSummary.shape,
  status_reason: z.string().nullable().describe('The reason given with this status.'),
  source_content: z.string(),
  plan: workflowPlan.nullable(),
});

/** A task in a list. */
export const listedTask = z.strictObject({
  id: z.string(),
  name: z.string(),
  sequence: z.int(),
  parallel_group: z.string().nullable(),
  status: z.enum(TASK_STATUSES),
  assigned_agent_id: z.string().nullable(),
  depends_on: z.array(z.string()).describe('Names of the tasks that must be completed first.'),
  summary: z.string().optional().describe('Its outcome, or its error, or the start of its description.'),
});
export type ListedTask = z.output<typeof listedTask>;

const autoCreate = z.boolean().describe('Whether each claimed parallel task gets its own git worktree and branch.');
const status = z.enum(WORKFLOW_STATUSES);

export const createWorkflowContract = contract({
  name: 'workflow_create',
  toolset: 'workflow',
  placed: 'repository_path',
  title: 'Create a workflow',
  description:
    'Creates a workflow from a prompt or an issue. It starts in status planning: set its plan with workflow_set_plan next. Every call creates another: if an answer was lost, check workflow_list first.',
  input: z.strictObject({
    name,
    source_type: z.enum(SOURCE_TYPES),
    source_ref: text(1_000).optional().describe('URL or identifier of the source.'),
    source_content: z.string().max(200_000).describe('The prompt or issue itself.'),
    repository_path: repositoryPath.optional(),
    max_parallel_tasks: maxParallel.default(1),
    auto_create_workspaces: autoCreate.default(false),
  }),
  output: z.strictObject({ id: z.string(), name: z.string(), status: z.literal('planning'), max_parallel_tasks: z.int(), repository_path: z.string() }),
});

export const getWorkflow = contract({
  name: 'workflow_get',
  toolset: 'workflow',
  title: 'Get a workflow',
  description: 'A workflow with its source and plan. include_tasks adds its tasks in pages; task_get returns one in full.',
  input: z.strictObject({
    id,
    include_tasks: z.boolean().default(false),
    include_task_summaries: z.boolean().default(true).describe('Adds the outcome or description of each task.'),
    task_limit: z.int().min(1).max(10_000).default(500),
    task_offset: z.int().min(0).max(1_000_000).default(0),
  }),
  output: z.strictObject({
    ...workflowView.shape,
    tasks: z.array(listedTask).optional(),
    task_total: z.int().optional().describe('Number of tasks on all pages.'),
  }),
  annotations: READ,
});

export const listWorkflows = contract({
  name: 'workflow_list',
  toolset: 'workflow',
  title: 'List workflows',
  description: 'The workflows of the workspace, newest first.',
  input: z.strictObject({
    repository_path: repositoryPath.optional().describe('Only workflows of this repository.'),
    status: z.array(status).min(1).max(WORKFLOW_STATUSES.length).optional().describe('Only workflows in one of these statuses.'),
    limit: z.int().min(1).max(200).default(20),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  output: z.strictObject({ workflows: z.array(workflowSummary), total: z.int() }),
  annotations: READ,
});

const notes = z.array(text(1_000)).max(100);

const newPlan = z.strictObject({
  summary: text(2_000).describe('The purpose of the workflow, in brief.'),
  approach: text(20_000),
  tasks: tasksOf(plannedTask),
  risks: notes.optional(),
  assumptions: notes.optional(),
});
export type NewPlan = z.output<typeof newPlan>;

export const setPlanContract = contract({
  name: 'workflow_set_plan',
  toolset: 'workflow',
  title: 'Set the plan of a workflow',
  description:
    'Creates all tasks of a workflow in status planning, which then becomes ready. depends_on names other tasks of the plan. Then claim tasks: workflow_next_tasks lists them.',
  input: z.strictObject({ id, plan: newPlan }),
  output: z.strictObject({ workflow_id: z.string(), tasks_created: z.int(), parallelizable_groups: z.int(), status: z.literal('ready') }),
});

const taskRef = z.string().trim().min(1).max(200);

export const addTaskContract = contract({
  name: 'workflow_add_task',
  toolset: 'workflow',
  title: 'Add a task to a workflow',
  description: 'Adds a task to a workflow that already has a plan. Identify existing tasks by name or id.',
  input: z.strictObject({
    workflow_id: id,
    name,
    description,
    after: taskRef.optional().describe('The new task depends on this task and is one step later.'),
    depends_on: z.array(taskRef).max(500).optional().describe('Tasks that must be completed first.'),
    blocks: z.array(taskRef).max(500).optional().describe('Pending, unclaimed tasks that must wait for the new one.'),
    sequence: sequence.optional().describe('Default: one step after `after`, else at the end.'),
    parallel_group: plannedTaskFields.parallel_group,
    estimated_complexity: plannedTask.shape.estimated_complexity,
    files_likely_affected: plannedTask.shape.files_likely_affected,
    capabilities: plannedTaskFields.capabilities,
  }),
  output: z.strictObject({ task_id: z.string(), workflow_id: z.string(), sequence: z.int(), status: z.enum(TASK_STATUSES) }),
});

export const removeTaskContract = contract({
  name: 'workflow_remove_task',
  toolset: 'workflow',
  title: 'Remove a task from a workflow',
  description: 'Removes an unclaimed task from the plan. Tasks that waited for it now wait for its dependencies.',
  input: z.strictObject({ workflow_id: id, task_id: id, reason: reason.optional() }),
  output: z.strictObject({ success: z.literal(true), rewired: z.int().describe('Number of its former dependents.') }),
  annotations: { destructiveHint: true },
});

/** A task may have thousands of neighbours. Answers list only this many, and the number of the others. */
export const NEIGHBOURS_SHOWN = 100;
const more = z.int().optional().describe('Number of items left out.');

const nextTask = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  sequence: z.int(),
  status: z.enum(['pending', 'failed']),
  can_parallelize: z.boolean(),
  parallel_with: z.array(z.string()).optional().describe('Ids of the other tasks in its parallel group.'),
  parallel_with_more: more,
  dependencies_completed: z.array(z.string()).describe('Names of its completed dependencies.'),
  dependencies_completed_more: more,
});

export const nextTasks = contract({
  name: 'workflow_next_tasks',
  toolset: 'workflow',
  title: 'Next tasks of a workflow',
  description: 'Tasks that can be claimed now: pending or failed, not blocked and unclaimed, in plan order. Claim with task_claim.',
  input: z.strictObject({
    workflow_id: id,
    include_failed: z.boolean().default(true).describe('Include failed tasks, to retry them.'),
    limit: z.int().min(1).max(1_000).default(100),
  }),
  output: z.strictObject({
    tasks: z.array(nextTask),
    available: z.int().describe('Total number.'),
    claimed: z.int().describe('Number of claimed tasks of the workflow.'),
    max_parallel: z.int(),
    recommended_count: z.int().describe('The smaller of available and max_parallel.'),
    workflow_status: z.enum(WORKFLOW_STATUSES),
    all_complete: z.boolean().describe('Tasks exist, and each is completed or skipped.'),
  }),
  annotations: READ,
});

export const GROUPS_SHOWN = 1_000;

export const progressOf = contract({
  name: 'workflow_progress',
  toolset: 'workflow',
  title: 'Progress of a workflow',
  description: 'Progress of a workflow: counts by status, current sequence, blocked tasks and what blocks them, and remaining work.',
  input: z.strictObject({ workflow_id: id }),
  output: z.strictObject({
    workflow_status: z.enum(WORKFLOW_STATUSES),
    total_tasks: z.int(),
    by_status: z.strictObject(Object.fromEntries(TASK_STATUSES.map((status) => [status, z.int()])) as Record<(typeof TASK_STATUSES)[number], z.ZodInt>),
    all_complete: z.boolean(),
    completed_sequence: z.int().describe('All tasks up to this sequence are completed or skipped; 0 if none are.'),
    current_sequence: z.int().describe('The lowest sequence with an open task; the highest sequence if none is open.'),
    blocked_tasks: z.array(z.strictObject({ id: z.string(), name: z.string(), blocked_by: z.array(z.string()), blocked_by_more: more })),
    blocked_tasks_more: more,
    parallel_groups: z.array(z.strictObject({ group_id: z.string(), task_count: z.int(), completed: z.int().describe('Number completed or skipped.') })),
    parallel_groups_more: more,
    estimated_remaining: z.int().describe('Number of open tasks.'),
    estimated_remaining_ms: z.int().nullable().describe('Estimated time at the rate so far. Null: no data yet.'),
  }),
  annotations: READ,
});

export const checkDependencies = contract({
  name: 'task_check_dependencies',
  toolset: 'workflow',
  title: 'Check the dependencies of a task',
  description: 'Unfinished dependencies of a task, and outcomes of completed dependencies.',
  input: z.strictObject({ task_id: id }),
  output: z.strictObject({
    satisfied: z.boolean(),
    pending: z.array(z.strictObject({ id: z.string(), name: z.string(), status: z.enum(TASK_STATUSES) })),
    completed: z.array(z.strictObject({ id: z.string(), name: z.string(), outcome: z.string() })),
  }),
  annotations: READ,
});

export const updateWorkflowStatus = contract({
  name: 'workflow_update_status',
  essential: true,
  toolset: 'workflow',
  title: 'Update the status of a workflow',
  description:
    'Starts, pauses, fails, completes or abandons a workflow. Completing and abandoning are final and release every claim. Complete it when workflow_next_tasks returns all_complete true.',
  input: z.strictObject({ id, status, reason: reason.optional() }),
  output: z.strictObject({ success: z.literal(true), changed: z.boolean().describe('False: it already had that status.') }),
  annotations: { idempotentHint: true },
});

export const setParallelism = contract({
  name: 'workflow_set_parallelism',
  toolset: 'workflow',
  title: 'Set the parallelism of a workflow',
  description: 'Sets how many tasks of the workflow can be claimed at the same time, and whether they get worktrees. Existing claims stay.',
  input: z.strictObject({ id, max_parallel_tasks: maxParallel, auto_create_workspaces: autoCreate.optional() }),
  output: z.strictObject({ success: z.literal(true) }),
  annotations: { idempotentHint: true },
});
