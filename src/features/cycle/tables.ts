import type { EpochMs, JsonText } from '../../storage/columns.ts';

export const CYCLE_STATUSES = ['active', 'archived', 'cancelled'] as const;
export type CycleStatus = (typeof CYCLE_STATUSES)[number];

/** One feature's way through the phases, with its lock: they change together. */
/** The lock token of every cycle that was imported. It opens nothing, and no file here follows such a cycle. */
export const IMPORTED_LOCK = 'void';

export interface CycleRow {
  workspace_id: string;
  /** Of the store; `cycle_id` is the contract's name for it, and unique in its repository only. */
  id: string;
  repository: string;
  cycle_id: string;
  feature: string;
  mode: string;
  status: CycleStatus;
  /** As it was when the cycle began: a changed config must not move a cycle under its agents' feet. */
  machine: JsonText;
  /** What `config.json` said when the cycle was archived, without PSKs. */
  config: JsonText | null;
  phase: string;
  active_role: string;
  lock_role: string;
  /** Needed as it is, because `lock.acquire` gives it out again. Of no use without a session of its role. */
  lock_token: string;
  lock_acquired_at: EpochMs;
  /** How often the turn went back to an earlier phase. */
  reworks: number;
  started_by: string;
  created_at: EpochMs;
  updated_at: EpochMs;
  completed_at: EpochMs | null;
  ended_at: EpochMs | null;
  ended_by: string | null;
  reason: string | null;
  /** Rises with every change of what the files show; where `mirrored` is behind, the files are. */
  revision: number;
  mirrored: number;
}

/** What one role has left for another. The latest is the handoff; older ones are its history. */
export interface CycleHandoffRow {
  workspace_id: string;
  cycle: string;
  number: number;
  target: string;
  producer: string;
  payload: JsonText;
  created_at: EpochMs;
}

/** A role's turn at the contract, opened with its PSK. Bound to the token that opened it. */
export interface RoleSessionRow {
  workspace_id: string;
  id: string;
  token_sha256: string;
  /** Of the PSK that it was opened with: with another one it is no longer good. */
  psk_mark: string;
  repository: string;
  role: string;
  token_id: string;
  actor: string;
  created_at: EpochMs;
  last_seen: EpochMs;
  expires_at: EpochMs;
  closed_at: EpochMs | null;
  closed_by: string | null;
}

/** Wrong PSKs of one caller for one role in one repository: each makes the next one wait. */
export interface PskFailureRow {
  workspace_id: string;
  /** By the file that has its PSKs: links may make that the config of any number of folders, and each would have its own free guesses. */
  repository: string;
  role: string;
  token_id: string;
  failures: number;
  last_at: EpochMs;
}
