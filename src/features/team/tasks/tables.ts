import type { EpochMs, JsonText } from '../../../storage/columns.ts';

/** The lifecycle and the values of its fields are in `contract.ts` and the workstreams' lifecycle; rows know them as text. */
export interface TaskRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  /** The agent that planned or started it, as in the journal. */
  actor: string;
  session_id: string | null;
  /** Null only in rows of an older version, until the next start of the server. */
  workstream_id: string | null;
  title: string;
  task_type: 'feature' | 'bug' | 'refactor' | 'chore' | 'docs' | 'test' | 'spike';
  status: 'planned' | 'active' | 'blocked' | 'completed' | 'cancelled';
  description: string | null;
  scope: string | null;
  action: 'create' | 'modify' | 'remove' | 'fix' | 'audit' | null;
  component: string | null;
  priority: 'low' | 'normal' | 'high' | 'urgent';
  target_files: JsonText;
  repo: string | null;
  result_summary: string | null;
  summary: string | null;
  /** Why it was cancelled. */
  reason: string | null;
  created_at: EpochMs;
  started_at: EpochMs | null;
  updated_at: EpochMs;
  closed_at: EpochMs | null;
}
