import { z } from 'zod';
import { readJson } from '../../../storage/columns.ts';
import type { CheckpointRow, WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import { shownStatus } from './lifecycle.ts';
import type { CheckpointView, TaskView, workflowSummary, workflowView } from './shapes.ts';
import { workflowPlan } from './shapes.ts';

const stringsSchema = z.array(z.string());
const jsonSchema = z.record(z.string(), z.unknown());

export const readStrings = (text: string): string[] => readJson(stringsSchema, text);
export const readRecord = (text: string | null): Record<string, unknown> | null => (text === null ? null : readJson(jsonSchema, text));

export const planOf = ({ plan }: Pick<WorkflowRow, 'plan'>): z.output<typeof workflowPlan> | null => (plan === null ? null : readJson(workflowPlan, plan));

/** What a list is made of: without the source, which may be long. */
export const SUMMARISED = [
  'id',
  'name',
  'status',
  'source_type',
  'source_ref',
  'repository_path',
  'plan',
  'max_parallel_tasks',
  'auto_create_workspaces',
  'created_at',
  'updated_at',
  'started_at',
  'finished_at',
] as const satisfies readonly (keyof WorkflowRow)[];
export type SummarisedWorkflow = Pick<WorkflowRow, (typeof SUMMARISED)[number]>;

export const summariseWorkflow = (row: SummarisedWorkflow): z.output<typeof workflowSummary> => ({
  id: row.id,
  name: row.name,
  status: row.status,
  source_type: row.source_type,
  source_ref: row.source_ref,
  repository_path: row.repository_path,
  plan_summary: planOf(row)?.summary ?? null,
  max_parallel_tasks: row.max_parallel_tasks,
  auto_create_workspaces: row.auto_create_workspaces === 1,
  created_at: row.created_at,
  updated_at: row.updated_at,
  started_at: row.started_at,
  finished_at: row.finished_at,
});

export const viewWorkflow = (row: WorkflowRow): z.output<typeof workflowView> => ({
  ...summariseWorkflow(row),
  status_reason: row.status_reason,
  source_content: row.source_content,
  plan: planOf(row),
});

export const viewTask = (row: WorkflowTaskRow): TaskView => ({
  id: row.id,
  workflow_id: row.workflow_id,
  name: row.name,
  description: row.description,
  sequence: row.sequence,
  parallel_group: row.parallel_group,
  status: shownStatus(row),
  estimated_complexity: row.estimated_complexity,
  files_likely_affected: readStrings(row.files),
  capabilities: readStrings(row.capabilities),
  plan: readRecord(row.plan),
  context: readRecord(row.context) ?? {},
  outcome: row.outcome,
  outcome_detail: readRecord(row.outcome_detail),
  error: row.error,
  assigned_agent_id: row.assigned_agent_id,
  claimed_at: row.claimed_at,
  fence: row.fence,
  completed_by: row.completed_by,
  workspace_id: row.worktree_id,
  question_id: row.question_id,
  checkpoint_count: row.last_checkpoint,
  created_at: row.created_at,
  updated_at: row.updated_at,
  started_at: row.started_at,
  finished_at: row.finished_at,
});

export const viewCheckpoint = (row: CheckpointRow): CheckpointView => ({
  id: row.id,
  task_id: row.task_id,
  sequence: row.sequence,
  type: row.type,
  summary: row.summary,
  detail: readRecord(row.detail),
  files_changed: readStrings(row.files_changed),
  agent_id: row.agent_id,
  created_at: row.created_at,
});
