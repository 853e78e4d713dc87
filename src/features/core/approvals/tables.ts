import type { EpochMs, JsonText } from '../../../storage/columns.ts';

/** `used`: the approved call has been made. `lapsed`: nobody decided in time, or nobody made the approved call. */
export const APPROVAL_STATUSES = ['waiting', 'approved', 'refused', 'lapsed', 'used'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** A call that a person has to approve. */
export interface ApprovalRow {
  workspace_id: string;
  id: string;
  noun: string;
  /** The tool or prompt, or the server of a resource. */
  name: string;
  server: string | null;
  /** What the person decides on. Wiped with the decision: arguments are not kept. */
  arguments: JsonText | null;
  arguments_sha256: string;
  grant_id: string;
  token_id: string;
  developer_id: string | null;
  actor: string;
  request_id: string;
  status: ApprovalStatus;
  created_at: EpochMs;
  deadline_at: EpochMs;
  decided_at: EpochMs | null;
  decided_by: string | null;
  /** Where: `dashboard`, `cli`, `api`, or the caller's own client by `elicitation`. */
  decided_through: string | null;
  reason: string | null;
  used_at: EpochMs | null;
}

/** A call of several rounds that has been counted. */
export interface CallRoundRow {
  workspace_id: string;
  token_sha256: string;
  token_id: string;
  noun: string;
  name: string;
  arguments_sha256: string;
  grant_id: string;
  approval_id: string | null;
  request_state: string | null;
  expires_at: EpochMs;
}
