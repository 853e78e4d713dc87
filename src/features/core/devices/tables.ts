import type { EpochMs, JsonText } from '../../../storage/columns.ts';

/** `consumed`: its tokens have been handed over. */
export type DeviceStatus = 'pending' | 'approved' | 'denied' | 'consumed';

/** A machine that asked for tokens for its agents. It belongs to nobody until somebody signed in has approved it. */
export interface DeviceGrantRow {
  id: string;
  /** What a person reads on one screen and compares on the other: eight letters. */
  user_code: string;
  /** SHA-256 of what the machine asks with; the code itself is given out once and never stored. */
  device_code_hash: string;
  machine_name: string;
  agents: JsonText;
  /** The address that the request came from. */
  source: string;
  status: DeviceStatus;
  workspace_id: string | null;
  developer_id: string | null;
  created_at: EpochMs;
  expires_at: EpochMs;
  polled_at: EpochMs | null;
  /** How long the machine has to wait between two questions. */
  interval_seconds: number;
  decided_at: EpochMs | null;
}
