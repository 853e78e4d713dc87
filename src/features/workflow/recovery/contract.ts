import { z } from 'zod';
import { contract, id, READ } from '../../../kernel/contract.ts';
import { checkpointView, SOURCE_TYPES, TASK_STATUSES, WORKFLOW_STATUSES } from '../workflows/contract.ts';

const json = z.record(z.string(), z.unknown());
const taskStatus = z.enum(TASK_STATUSES);

const omitted = z
  .array(z.strictObject({ section: z.string(), count: z.int(), reason: z.string() }))
  .describe('What was cut to fit. count: list entries, or characters of a text or object.');

const include = z.strictObject({
  workflow_plan: z.boolean().default(true),
  workflow_summary: z.boolean().default(true).describe('Source of the workflow, compressed.'),
  prior_task_outcomes: z.boolean().default(true),
  prior_task_full: z.boolean().default(false).describe('Prior tasks with description, plan and full outcome instead of a summary.'),
  sibling_status: z.boolean().default(true).describe('Tasks of the same parallel group, or of the same sequence.'),
  dependency_outcomes: z.boolean().default(true),
  all_checkpoints: z.boolean().default(false),
  recent_checkpoints: z.int().min(0).max(1_000).default(5).describe('Number of newest checkpoints without all_checkpoints.'),
});
export type Include = z.output<typeof include>;
export type RecoveredCheckpoint = z.output<typeof checkpointView>;

const priorTask = z.strictObject({
  id: z.string(),
  name: z.string(),
  outcome: z.string(),
  status: taskStatus,
  description: z.string().optional(),
  plan: json.nullable().optional(),
  outcome_detail: json.nullable().optional(),
});
export type PriorTask = z.output<typeof priorTask>;

const siblingTask = z.strictObject({ id: z.string(), name: z.string(), status: taskStatus, brief_summary: z.string().optional() });
export type SiblingTask = z.output<typeof siblingTask>;

const dependencyOutcome = z.strictObject({ task_id: z.string(), task_name: z.string(), outcome: z.string(), status: taskStatus });
export type DependencyOutcome = z.output<typeof dependencyOutcome>;

export const loadContext = contract({
  name: 'task_load_context',
  toolset: 'workflow',
  title: 'Load the context of a task',
  description:
    'Everything needed to start a task, or to resume it after your context was cleared: the workflow, the task with its plan and newest checkpoints, earlier and parallel tasks. ' +
    'Never more than max_tokens: token_estimate is the size of the JSON of the whole answer, in o200k_base tokens. omitted lists what was cut; ask again with a larger max_tokens or less in include, or read it with task_get and checkpoint_list.',
  input: z.strictObject({
    task_id: id,
    include: include.prefault({}).describe('What to load.'),
    max_tokens: z.int().min(1).max(200_000).default(8_000).describe('The budget, in o200k_base tokens.'),
  }),
  output: z.strictObject({
    workflow: z.strictObject({
      id: z.string(),
      name: z.string(),
      source_type: z.enum(SOURCE_TYPES),
      source_summary: z.string().optional(),
      plan_summary: z.string().optional(),
      status: z.enum(WORKFLOW_STATUSES),
      max_parallel_tasks: z.int(),
    }),
    current_task: z.strictObject({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      plan: json.nullable(),
      context: json,
      checkpoints: z.array(checkpointView).describe('By sequence, newest last.'),
      status: taskStatus,
      assigned_agent_id: z.string().nullable(),
      fence: z.int(),
      workspace_id: z.string().nullable().describe('The git worktree that the task is assigned to.'),
      files_likely_affected: z.array(z.string()),
    }),
    prior_tasks: z.array(priorTask).describe('Ended tasks up to the same sequence, nearest last.'),
    sibling_tasks: z.array(siblingTask).optional(),
    dependency_outcomes: z.array(dependencyOutcome).optional(),
    omitted,
    token_estimate: z.int(),
  }),
  annotations: READ,
});

const count = z.int().min(0);
const workflowDigest = z.strictObject({
  id: z.string(),
  name: z.string(),
  status: z.enum(WORKFLOW_STATUSES),
  source_type: z.enum(SOURCE_TYPES),
  source_ref: z.string().nullable(),
  repository_path: z.string(),
  plan_summary: z.string().nullable(),
  progress: z.strictObject({ total: count, by_status: z.record(taskStatus, count) }),
  open_questions: z
    .array(z.strictObject({ id: z.string(), task_id: z.string().nullable(), question: z.string() }))
    .describe('The newest 20 questions that wait for a person.'),
  current: z
    .array(z.strictObject({ id: z.string(), name: z.string(), status: taskStatus, agent_id: z.string().nullable(), agent_name: z.string().nullable() }))
    .describe('The 50 tasks in progress that changed last.'),
  next: z.array(z.strictObject({ id: z.string(), name: z.string() })).describe('The first 10 tasks that can be claimed.'),
  blocked: count,
  failed: z.array(z.strictObject({ id: z.string(), name: z.string(), error: z.string() })).describe('The newest 20.'),
  recent_outcomes: z.array(z.strictObject({ id: z.string(), name: z.string(), outcome: z.string() })).describe('The 10 completed last.'),
});
export type WorkflowDigest = z.output<typeof workflowDigest>;

export const getSummary = contract({
  name: 'workflow_get_summary',
  toolset: 'workflow',
  title: 'Summarise a workflow',
  description:
    'The state of a workflow in few words: its plan, progress, who works on what, what is next, what failed, what was completed last and what waits for a person. As json, or as markdown for a file such as CLAUDE.md. ' +
    'token_estimate is the size of the summary (markdown: of the text, json: of its JSON) in o200k_base tokens. To work on a task, use task_load_context.',
  input: z.strictObject({
    id,
    format: z.enum(['json', 'markdown']).default('json'),
    max_tokens: z.int().min(100).max(50_000).default(2_000).describe('The budget, in o200k_base tokens.'),
  }),
  output: z.strictObject({
    summary: z.union([z.string(), workflowDigest]),
    token_estimate: z.int(),
    omitted,
  }),
  annotations: READ,
});
