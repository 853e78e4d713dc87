import type { EpochMs } from '../../../storage/columns.ts';

/** What a workspace has set otherwise than the default. */
export interface SettingRow {
  workspace_id: string;
  key: string;
  value: string;
  updated_at: EpochMs;
  updated_by: string;
}
