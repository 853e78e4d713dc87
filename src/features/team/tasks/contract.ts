import { z } from 'zod';
import { contract, id, MEMBER_READ, repo, repoPath, sessionId, text, title } from '../../../kernel/contract.ts';
import { answerFields, checkOutput, confirmFields, match } from '../overlap/contract.ts';
import { RUNNING, WORK_STATUSES } from './lifecycle.ts';

const tasks = {
  name: 'covibe_task',
  toolset: 'team',
  title: 'Tasks',
  about:
    'Announces your work so that nobody does it twice. check reports who does the same work or edits its files. Then start, update (active, blocked), complete or cancel. For later work: plan, then start_planned.',
} as const;

export const TASK_TYPES = ['feature', 'bug', 'refactor', 'chore', 'docs', 'test', 'spike'] as const;

const taskType = z.enum(TASK_TYPES).describe('Kind of work.');
const priority = z.enum(['low', 'normal', 'high', 'urgent']);
const taskId = id.describe('The task.');
const plannedTaskId = id.describe('The planned task that you want to start.');

/** Optional fields that make the comparison with other work more precise. */
const words = {
  scope: text(1_000).optional().describe('What this work really is, in one sentence. Compared with the work of others.'),
  action: z.enum(['create', 'modify', 'remove', 'fix', 'audit']).optional(),
  component: text(40).optional().describe('The layer or part: server, client, db, ui …'),
};
const description = text(8_000).optional();
const targetFiles = z
  .array(repoPath)
  .max(50)
  .optional()
  .describe('Repository paths that you will touch. Used in the comparison and shown to others; they never block.');
const workstreamId = id.optional().describe('Your own open workstream. If omitted, the server chooses or creates one.');

/** Fields that describe the work in every check, plan and start. */
const described = { title, task_type: taskType, description, ...words, target_files: targetFiles };
/** Fields that a plan or a start also stores. */
const stored = { ...described, priority: priority.optional(), workstream_id: workstreamId };

export const checkTask = contract({
  ...tasks,
  operation: 'check',
  description:
    'Always before start: is anybody already doing this? Returns check_id, matches and file_conflicts. If requires_verdict is true, judge each of candidates.',
  input: z.strictObject({
    ...described,
    planned_task_id: plannedTaskId.optional(),
    session_id: sessionId,
  }),
  output: z.strictObject(checkOutput),
});

const { check_id: _, ...planOutput } = checkOutput;

export const planTask = contract({
  ...tasks,
  operation: 'plan',
  description: 'Records future work without starting it. Overlap is returned as a warning.',
  input: z.strictObject({
    ...stored,
    session_id: sessionId,
  }),
  output: z.strictObject({ task_id: z.string(), status: z.literal('planned'), workstream_id: z.string(), ...planOutput }),
});

const started = {
  task_id: z.string(),
  status: z.enum(WORK_STATUSES),
  workstream_id: z.string(),
  warning_id: z.string().nullable(),
  file_conflicts: checkOutput.file_conflicts,
};

export const startTask = contract({
  ...tasks,
  operation: 'start',
  description: 'Starts work that you checked with the same title in the last 10 minutes. If the check required a verdict, send check_id and scope_verdict.',
  input: z.strictObject({
    ...stored,
    ...answerFields,
    session_id: sessionId,
  }),
  output: z.strictObject(started),
});

export const startPlannedTask = contract({
  ...tasks,
  operation: 'start_planned',
  description: 'Starts your planned task after a check with its title and planned_task_id. Overlap is checked again at that moment.',
  input: z.strictObject({ planned_task_id: plannedTaskId, ...answerFields, session_id: sessionId }),
  output: z.strictObject(started),
});

export const updateTask = contract({
  ...tasks,
  operation: 'update',
  description: 'On started work: status active or blocked. On planned work: edits title, description, scope, action, component, priority, task_type.',
  input: z.strictObject({
    task_id: taskId,
    status: z.enum(['active', 'blocked']).optional(),
    title: title.optional(),
    task_type: taskType.optional(),
    description,
    ...words,
    priority: priority.optional(),
    session_id: sessionId,
  }),
  output: z.strictObject({ task_id: z.string(), status: z.enum(WORK_STATUSES), changed: z.array(z.string()) }),
  annotations: { idempotentHint: true },
});

export const completeTask = contract({
  ...tasks,
  operation: 'complete',
  essential: true,
  description: 'Completes work with a result_summary: the outcome, for the team.',
  input: z.strictObject({
    task_id: taskId,
    result_summary: text(8_000).describe('The outcome. Also serves as summary.'),
    summary: text(2_000).optional(),
    session_id: sessionId,
  }),
  output: z.strictObject({ task_id: z.string(), status: z.enum(WORK_STATUSES) }),
  annotations: { idempotentHint: true },
});

export const cancelTask = contract({
  ...tasks,
  operation: 'cancel',
  essential: true,
  description: 'Cancels planned, active or blocked work, with a reason.',
  input: z.strictObject({ task_id: taskId, reason: text(1_000), session_id: sessionId }),
  output: z.strictObject({ task_id: z.string(), status: z.enum(WORK_STATUSES) }),
  annotations: { destructiveHint: true },
});

/** Plans a task on the dashboard. If candidates are escalated, the person must confirm the plan before it is stored. */
export const planTaskByHand = contract({
  name: 'tasks.plan',
  toolset: 'team',
  access: 'member',
  route: 'POST /api/tasks',
  title: 'Plan a task',
  description: 'Plans a task for the signed-in developer, with the same comparison that agents get.',
  input: z.strictObject({
    ...stored,
    repo: repo.optional(),
    ...confirmFields,
  }),
  output: z.strictObject({
    task_id: z.string().nullable(),
    status: z.literal('planned').nullable(),
    workstream_id: z.string().nullable(),
    requires_confirm: z.boolean(),
    ...planOutput,
  }),
});

/** Cancels a task on the dashboard. People can cancel only their own tasks. */
export const cancelTaskByHand = contract({
  name: 'tasks.cancel',
  toolset: 'team',
  access: 'member',
  title: 'Cancel a task',
  description: 'Cancels planned, active or blocked work of the signed-in developer, with a reason.',
  input: z.strictObject({ task_id: taskId, reason: text(1_000) }),
  output: z.strictObject({ task_id: z.string(), status: z.enum(WORK_STATUSES) }),
  annotations: { destructiveHint: true },
});

export const taskView = z.strictObject({
  task_id: z.string(),
  title: z.string(),
  task_type: z.enum(TASK_TYPES),
  status: z.enum(WORK_STATUSES),
  owner: z.string(),
  mine: z.boolean(),
  agent: z.string().nullable(),
  workstream_id: z.string().nullable(),
  session_id: z.string().nullable(),
  scope: z.string().nullable(),
  description: z.string().nullable(),
  action: z.string().nullable(),
  component: z.string().nullable(),
  priority: z.string(),
  target_files: z.array(z.string()),
  repo: z.string().nullable(),
  result_summary: z.string().nullable(),
  summary: z.string().nullable(),
  reason: z.string().nullable(),
  created_at: z.int(),
  started_at: z.int().nullable(),
  updated_at: z.int(),
  closed_at: z.int().nullable(),
});
export type TaskView = z.output<typeof taskView>;

const developer = text(200).describe('The owner, by name or id.');

/** A task as people see it. It contains names next to the ids. */
const shownTask = z.strictObject({
  ...taskView.shape,
  agent_id: z.string().nullable().describe('Id of the agent that planned or started it.'),
  workstream_title: z.string().nullable(),
  overlaps: z.strictObject({ all: z.int(), open: z.int() }).describe('Stored overlap warnings about it: all, and unresolved ones.'),
});
export type ShownTask = z.output<typeof shownTask>;

export const listTasks = contract({
  ...MEMBER_READ,
  name: 'tasks.list',
  title: 'List tasks',
  description: 'Tasks of the workspace, last changed first, a page at a time.',
  input: z.strictObject({
    status: z.array(z.enum(WORK_STATUSES)).min(1).max(5).optional(),
    mine: z.boolean().optional(),
    owner: developer.optional(),
    repository: text(300).optional().describe('Name of the repository.'),
    workstream_id: id.optional(),
    before: z.strictObject({ updated_at: z.int(), task_id: z.string() }).optional().describe('Last row of the previous page.'),
    limit: z.int().min(1).max(200).optional(),
  }),
  output: z.strictObject({
    items: z.array(shownTask),
    more: z.boolean(),
    total: z.int().nullable().describe('Number of matching tasks; null if there are more than 10,000.'),
  }),
});

export const showTask = contract({
  ...MEMBER_READ,
  name: 'tasks.show',
  title: 'A task',
  description: 'A task of the workspace, in any status.',
  input: z.strictObject({ task_id: id.describe('Id of the task, or the end of it.') }),
  output: z.strictObject({ task: shownTask }),
});

/** Lists the task owners that a person can choose from in a filter. */
export const taskOwners = contract({
  ...MEMBER_READ,
  name: 'tasks.owners',
  title: 'Owners of tasks',
  description: 'Names of task owners, as far as the caller may see them.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(z.strictObject({ name: z.string() })) }),
});

const workstreams = {
  name: 'covibe_workstream',
  toolset: 'team',
  title: 'Workstreams',
  about: 'Groups your tasks. The server puts each task into one; start your own (check, then start) only for a large effort.',
} as const;

const about = text(4_000).optional().describe('A longer description.');
const namedWorkstream = id.describe('The workstream.');

/** Fields that every start returns besides the id. */
const startedWorkstream = {
  workstream_id: z.string(),
  status: z.enum(WORK_STATUSES),
  warning_id: z.string().nullable(),
};

export const checkWorkstream = contract({
  ...workstreams,
  operation: 'check',
  description: 'Before you start: is anybody already doing this? Returns check_id, matches and, if requires_verdict is true, candidates to judge.',
  input: z.strictObject({ title, description: about, session_id: sessionId }),
  output: z.strictObject(checkOutput),
});

export const planWorkstream = contract({
  ...workstreams,
  operation: 'plan',
  description: 'Records future work without starting it. Overlap is returned as a warning.',
  input: z.strictObject({ title, description: about, session_id: sessionId }),
  output: z.strictObject({ workstream_id: z.string(), status: z.literal('planned'), ...planOutput }),
});

export const startWorkstream = contract({
  ...workstreams,
  operation: 'start',
  description: 'Starts work that you checked with the same title in the last 10 minutes. If the check required a verdict, send check_id and scope_verdict.',
  input: z.strictObject({ title, description: about, ...answerFields, session_id: sessionId }),
  output: z.strictObject(startedWorkstream),
});

export const startPlannedWorkstream = contract({
  ...workstreams,
  operation: 'start_planned',
  description: 'Starts your planned workstream after a check with its title. Overlap is checked again at that moment.',
  input: z.strictObject({ planned_workstream_id: id.describe('The planned workstream you want to start.'), ...answerFields, session_id: sessionId }),
  output: z.strictObject(startedWorkstream),
});

export const updateWorkstream = contract({
  ...workstreams,
  operation: 'update',
  description: 'Sets a started workstream to active or blocked.',
  input: z.strictObject({ workstream_id: namedWorkstream, status: z.enum(RUNNING), session_id: sessionId }),
  output: z.strictObject({ workstream_id: z.string(), status: z.enum(WORK_STATUSES) }),
  annotations: { idempotentHint: true },
});

export const completeWorkstream = contract({
  ...workstreams,
  operation: 'complete',
  essential: true,
  description: 'Completes it with a result_summary. If tasks are open, it warns and lists them; repeat with confirm_open_tasks: true to complete it anyway.',
  input: z.strictObject({
    workstream_id: namedWorkstream,
    result_summary: text(8_000).describe('The outcome.'),
    confirm_open_tasks: z.boolean().optional(),
    session_id: sessionId,
  }),
  output: z.strictObject({ workstream_id: z.string(), status: z.enum(WORK_STATUSES), open_task_ids: z.array(z.string()) }),
  annotations: { idempotentHint: true },
});

export const cancelWorkstream = contract({
  ...workstreams,
  operation: 'cancel',
  essential: true,
  description: 'Cancels a planned workstream, with a reason. Complete a started one instead.',
  input: z.strictObject({ workstream_id: namedWorkstream, reason: text(1_000), session_id: sessionId }),
  output: z.strictObject({ workstream_id: z.string(), status: z.enum(WORK_STATUSES) }),
  annotations: { destructiveHint: true },
});

export const planWorkstreamByHand = contract({
  name: 'workstreams.plan',
  toolset: 'team',
  access: 'member',
  route: 'POST /api/workstreams',
  title: 'Plan a workstream',
  description: 'Plans a workstream for the signed-in developer, with the same comparison that agents get.',
  input: z.strictObject({ title, description: about, ...confirmFields }),
  output: z.strictObject({
    workstream_id: z.string().nullable(),
    status: z.literal('planned').nullable(),
    requires_confirm: z.boolean(),
    ...planOutput,
    candidates: z.array(match),
  }),
});

export const showWorkstream = contract({
  ...MEMBER_READ,
  name: 'workstreams.show',
  title: 'A workstream',
  description: 'A workstream of the workspace, with its number of tasks.',
  input: z.strictObject({ workstream_id: id.describe('Id of the workstream, or the end of it.') }),
  output: z.strictObject({
    workstream_id: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    status: z.enum(WORK_STATUSES),
    owner: z.string(),
    mine: z.boolean(),
    auto_created: z.boolean().describe('Created by the server for a task without a match.'),
    tasks: z.strictObject({ all: z.int(), open: z.int() }),
    result_summary: z.string().nullable(),
    created_at: z.int(),
    updated_at: z.int(),
    closed_at: z.int().nullable(),
  }),
});
