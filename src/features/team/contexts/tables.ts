import type { EpochMs, JsonText } from '../../../storage/columns.ts';

/** What somebody is in the middle of, for whoever takes over. Rows that no longer hold stay for audit. */
export interface SessionContextRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  session_id: string | null;
  repo: string;
  branch: string | null;
  title: string;
  summary: string;
  files_touched: JsonText;
  next_actions: JsonText;
  blockers: JsonText;
  task_ids: JsonText;
  published_at: EpochMs;
  expires_at: EpochMs;
  superseded_by: string | null;
  revoked_at: EpochMs | null;
}
