import type { EpochMs } from '../../../storage/columns.ts';
import type { WorkStatus } from './lifecycle.ts';

export interface WorkstreamRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  session_id: string | null;
  title: string;
  description: string | null;
  status: WorkStatus;
  /** 1: made by the server as a container for tasks that named none. */
  auto_created: number;
  result_summary: string | null;
  /** Why it was cancelled. */
  reason: string | null;
  created_at: EpochMs;
  updated_at: EpochMs;
  closed_at: EpochMs | null;
}
