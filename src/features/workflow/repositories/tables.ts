import type { EpochMs } from '../../../storage/columns.ts';

export interface RepositoryRow {
  workspace_id: string;
  id: string;
  /** Absolute, on the machine of whoever registered it. */
  path: string;
  name: string;
  created_at: EpochMs;
  updated_at: EpochMs;
}
