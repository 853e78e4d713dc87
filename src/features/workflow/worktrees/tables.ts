import type { EpochMs } from '../../../storage/columns.ts';

export const WORKTREE_STATUSES = ['active', 'merged', 'abandoned'] as const;
export type WorktreeStatus = (typeof WORKTREE_STATUSES)[number];

/** A workspace of the workflow contract. Its wire name is taken in the store by the workspaces that teams live in. */
export interface WorktreeRow {
  workspace_id: string;
  id: string;
  workflow_id: string;
  status: WorktreeStatus;
  path: string;
  branch: string;
  base_branch: string | null;
  base_commit: string | null;
  merge_commit: string | null;
  repository_path: string;
  /** 1: the server made it on disk, and so may remove it. 0: an agent's own, only told of. */
  made_by_server: number;
  /** What is being done to it on disk. A process that dies leaves it here; past `step_until` it is finished or undone. */
  step: 'creating' | 'removing' | null;
  step_until: EpochMs | null;
  /** For whose claim it was made, and under which fence. */
  task_id: string | null;
  fence: number | null;
  /** Why it is still on disk though it is merged or abandoned. */
  kept_reason: string | null;
  actor: string;
  created_at: EpochMs;
  updated_at: EpochMs;
  closed_at: EpochMs | null;
}
