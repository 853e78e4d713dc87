import type { EpochMs, JsonText } from '../../../storage/columns.ts';

/** One comparison of all running work with itself and with what was finished lately. */
export interface ParallelAuditRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  /** How many pieces of work were compared. */
  compared: number;
  conflicts: JsonText;
  created_at: EpochMs;
}
