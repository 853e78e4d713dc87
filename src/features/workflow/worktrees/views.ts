import type { z } from 'zod';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { workspaceView } from './contract.ts';

export const viewWorktree = (row: WorktreeRow, taskIds: string[]): z.output<typeof workspaceView> => ({
  id: row.id,
  workflow_id: row.workflow_id,
  path: row.path,
  branch: row.branch,
  base_branch: row.base_branch,
  base_commit: row.base_commit,
  status: row.status,
  merge_commit: row.merge_commit,
  task_ids: taskIds,
  managed: row.made_by_server === 1,
  kept_reason: row.kept_reason,
  created_at: row.created_at,
  updated_at: row.updated_at,
  closed_at: row.closed_at,
});
