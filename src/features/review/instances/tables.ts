import type { EpochMs, JsonText } from '../../../storage/columns.ts';

export const INSTANCE_TYPES = ['coding', 'review', 'planning'] as const;
export type InstanceType = (typeof INSTANCE_TYPES)[number];

export const INSTANCE_STATUSES = ['started', 'waiting_review', 'pr_created', 'pr_merged', 'pr_closed', 'terminated', 'abandoned'] as const;
export type InstanceStatus = (typeof INSTANCE_STATUSES)[number];

/** What is being done to it on the machine; null: nothing. A step that is overdue is taken over by the sweep. */
export const INSTANCE_STEPS = ['worktree', 'session', 'restart', 'ending', 'pull', 'issues'] as const;
export type InstanceStep = (typeof INSTANCE_STEPS)[number];

/** One run of an agent that the server itself has started, in a worktree of its own. */
export interface InstanceRow {
  workspace_id: string;
  /** `work-123-a1`; unique in its workspace. */
  id: string;
  type: InstanceType;
  status: InstanceStatus;
  /** The launcher that it was started with. */
  agent: string;
  /** For whom it works, as which developer it takes part in the team; null in a workspace without any. */
  developer_id: string | null;
  /** As which messages reach it (`agent_register`). */
  agent_id: string;
  /** The token that its process has; null until it is started. */
  token_id: string | null;
  /** Where its worktree and session are: servers on other machines leave it alone. */
  machine: string;
  repository: string;
  worktree_path: string;
  branch_name: string;
  base_branch: string;
  base_commit: string | null;
  session_name: string;
  session_kind: 'tmux' | 'process' | null;
  /** Of the plain process group that it is, with when it began: a number alone may be somebody else's by now. */
  pid: number | null;
  process_start: number | null;
  issue_number: number | null;
  prompt: string;
  /** Of a review: whose work it looks at, and for which time. */
  parent_instance_id: string | null;
  review_iteration: number | null;
  /** Refused requests at the limit, and verdicts `needs_work`. */
  failed_reviews: number;
  pr_number: number | null;
  pr_url: string | null;
  /** What it must hear of: should its agent have ended meanwhile, it is started again with these words. */
  news: string | null;
  /** Why it is no longer at work, or why its worktree was kept. */
  status_reason: string | null;
  kept_reason: string | null;
  /** What was in its worktree when a person had it removed all the same. */
  backup_ref: string | null;
  created_by: string;
  created_at: EpochMs;
  updated_at: EpochMs;
  last_activity: EpochMs;
  ended_at: EpochMs | null;
  step: InstanceStep | null;
  step_until: EpochMs | null;
  /** The process that carries it out; null: whoever comes first. */
  step_by: string | null;
  /** How the step is to be done. */
  step_data: JsonText | null;
  /** Reviews that a person has allowed beyond the limit of the settings. */
  extra_reviews: number;
}

export interface InstanceRelationshipRow {
  workspace_id: string;
  parent_instance: string;
  child_instance: string;
  relationship_type: 'spawned_review';
  review_iteration: number;
  /** How it ended: the type of its feedback, `approved`, `timeout`, `stopped`. */
  outcome: string | null;
  created_at: EpochMs;
  ended_at: EpochMs | null;
}
