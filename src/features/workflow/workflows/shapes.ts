import { z } from 'zod';
import { CHECKPOINT_TYPES, COMPLEXITIES, SOURCE_TYPES } from './fields.ts';
import { TASK_STATUSES, WORKFLOW_STATUSES } from './lifecycle.ts';

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

/** A task as the workflow contract shows it. */
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
  question_id: z.string().nullable().describe('The question to a person for whose answer the task waits.'),
  checkpoint_count: z.int(),
  created_at: z.int(),
  updated_at: z.int(),
  started_at: z.int().nullable(),
  finished_at: z.int().nullable(),
});
export type TaskView = z.output<typeof taskView>;

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

/** A workflow with all that is its own. */
export const workflowView = z.strictObject({
  ...workflowSummary.shape,
  status_reason: z.string().nullable().describe('Why it is in this status, as whoever set it said.'),
  source_content: z.string(),
  plan: workflowPlan.nullable(),
});

/** A task in a list of many. */
export const listedTask = z.strictObject({
  id: z.string(),
  name: z.string(),
  sequence: z.int(),
  parallel_group: z.string().nullable(),
  status: z.enum(TASK_STATUSES),
  assigned_agent_id: z.string().nullable(),
  depends_on: z.array(z.string()).describe('Names of the tasks that must be completed first.'),
  summary: z.string().optional().describe('Its outcome, else its error, else the beginning of its description.'),
});
export type ListedTask = z.output<typeof listedTask>;
