import type { EpochMs, JsonText } from '../../../storage/columns.ts';

export const CLAIM_MODES = ['exclusive', 'shared'] as const;
export type ClaimMode = (typeof CLAIM_MODES)[number];

/** A lease. It is live while it is neither released nor past `expires_at`. */
export interface ClaimRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  /** The agent that holds it, as in the journal; with its session, where that is known. */
  actor: string;
  agent_type: string | null;
  session_id: string | null;
  repo: string;
  paths: JsonText;
  symbols: JsonText;
  mode: ClaimMode;
  reason: string | null;
  ttl_minutes: number;
  created_at: EpochMs;
  expires_at: EpochMs;
  released_at: EpochMs | null;
  /** When the end of the lease was noted in the journal: it had ended at `expires_at`. */
  expired_at: EpochMs | null;
}

export interface AnnouncementRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  session_id: string | null;
  message: string;
  repo: string | null;
  paths: JsonText;
  created_at: EpochMs;
}

export interface AskRow {
  workspace_id: string;
  id: string;
  from_developer_id: string;
  /** The agent that asked: the answer is for it. */
  from_actor: string;
  session_id: string | null;
  to_developer_id: string;
  /** Null: whichever agent of the addressee. */
  to_agent_type: string | null;
  message: string;
  repo: string | null;
  paths: JsonText;
  created_at: EpochMs;
  due_at: EpochMs;
  delivered_at: EpochMs | null;
  read_at: EpochMs | null;
  answer: string | null;
  answered_at: EpochMs | null;
  answer_delivered_at: EpochMs | null;
}

export interface HandoffRow {
  workspace_id: string;
  id: string;
  from_developer_id: string;
  session_id: string | null;
  to_developer_id: string;
  to_agent_type: string | null;
  message: string;
  task_ids: JsonText;
  claim_ids: JsonText;
  repo: string | null;
  branch: string | null;
  context_id: string | null;
  status: 'offered' | 'accepted';
  created_at: EpochMs;
  accepted_at: EpochMs | null;
  /** Of what was offered, what the receiver has really got. */
  taken_task_ids: JsonText;
  taken_claim_ids: JsonText;
}
