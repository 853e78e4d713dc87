import type { EpochMs, JsonText } from '../../../storage/columns.ts';

export const AGENT_STATUSES = ['online', 'offline', 'busy'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];
export const RUNTIMES = ['claude_code', 'codex', 'opencode', 'custom', 'gemini', 'cursor'] as const;
export type Runtime = (typeof RUNTIMES)[number];
export const ROLES = ['coordinator', 'worker'] as const;
export type Role = (typeof ROLES)[number];

export interface AgentRow {
  workspace_id: string;
  id: string;
  name: string;
  runtime: Runtime;
  role: Role;
  /** As last told; who is silent for too long is offline whatever stands here. */
  status: AgentStatus;
  capabilities: JsonText;
  current_task_id: string | null;
  workspace_path: string | null;
  metadata: JsonText | null;
  /** Null: registered by the operator. */
  developer_id: string | null;
  token_id: string;
  actor: string;
  registered_at: EpochMs;
  /** The lease of every claim that the agent holds runs from here. */
  last_seen_at: EpochMs;
  updated_at: EpochMs;
}
