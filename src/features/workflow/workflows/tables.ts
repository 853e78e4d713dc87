import type { EpochMs, JsonText } from '../../../storage/columns.ts';
import type { StoredTaskStatus, WorkflowStatus } from './lifecycle.ts';

export const SOURCE_TYPES = ['prompt', 'github_issue', 'linear', 'jira', 'custom'] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];
export const COMPLEXITIES = ['low', 'medium', 'high'] as const;
export type Complexity = (typeof COMPLEXITIES)[number];
export const CHECKPOINT_TYPES = ['plan', 'progress', 'decision', 'error', 'recovery', 'complete', 'replan'] as const;
export type CheckpointType = (typeof CHECKPOINT_TYPES)[number];

export interface WorkflowRow {
  workspace_id: string;
  id: string;
  name: string;
  status: WorkflowStatus;
  status_reason: string | null;
  source_type: SourceType;
  source_ref: string | null;
  source_content: string;
  repository_path: string;
  /** Summary, approach, risks, assumptions. Null before there is a plan. */
  plan: JsonText | null;
  max_parallel_tasks: number;
  auto_create_workspaces: number;
  /** Null: made by the operator. */
  developer_id: string | null;
  actor: string;
  created_at: EpochMs;
  updated_at: EpochMs;
  started_at: EpochMs | null;
  finished_at: EpochMs | null;
}

export interface WorkflowTaskRow {
  workspace_id: string;
  id: string;
  workflow_id: string;
  name: string;
  description: string;
  sequence: number;
  parallel_group: string | null;
  estimated_complexity: Complexity | null;
  files: JsonText;
  capabilities: JsonText;
  status: StoredTaskStatus;
  /** How many of its dependencies are neither completed nor skipped. Kept so that what is next need not be worked out. */
  open_dependencies: number;
  plan: JsonText | null;
  context: JsonText | null;
  outcome: string | null;
  outcome_detail: JsonText | null;
  error: string | null;
  /** Who holds the claim now. Its lease ends when that agent has been silent for too long. */
  assigned_agent_id: string | null;
  claimed_at: EpochMs | null;
  /** Rises with every claim and with every claim that is taken away. */
  fence: number;
  completed_by: string | null;
  worktree_id: string | null;
  /** The question to a person for whose answer the task waits, and the status it then goes back to. */
  question_id: string | null;
  resume_status: 'planning' | 'in_progress' | null;
  last_checkpoint: number;
  /** 0: the overlap index has not been told of it yet. */
  indexed: number;
  created_at: EpochMs;
  updated_at: EpochMs;
  started_at: EpochMs | null;
  finished_at: EpochMs | null;
}

export interface WorkflowDependencyRow {
  workspace_id: string;
  workflow_id: string;
  task_id: string;
  depends_on: string;
}

export interface CheckpointRow {
  workspace_id: string;
  task_id: string;
  sequence: number;
  id: string;
  type: CheckpointType;
  summary: string;
  detail: JsonText | null;
  files_changed: JsonText;
  agent_id: string | null;
  actor: string;
  created_at: EpochMs;
}
