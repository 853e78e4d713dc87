import type { EpochMs, JsonText } from '../../../storage/columns.ts';

/** One run of an agent. Its owner never changes. */
export interface AgentSessionRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  token_id: string;
  agent_type: string | null;
  agent_name: string | null;
  provider: string | null;
  model: string | null;
  repo: string | null;
  branch: string | null;
  started_at: EpochMs;
  last_seen_at: EpochMs;
  ended_at: EpochMs | null;
}

export interface SessionActivityRow {
  workspace_id: string;
  session_id: string;
  id: string;
  text: string;
  created_at: EpochMs;
}

/** A machine is known by the token that its companion calls with. */
export interface MachineRow {
  workspace_id: string;
  token_id: string;
  developer_id: string;
  companion_version: string | null;
  last_heartbeat_at: EpochMs;
}

export interface RegisteredRepoRow {
  workspace_id: string;
  token_id: string;
  /** The place in the list as the machine sent it. */
  position: number;
  developer_id: string;
  repo: string;
  path: string | null;
  branch: string | null;
}

/** The latest state of one working tree on one branch, as its developer's agents reported it. */
export interface LocalWorktreeRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  repo: string;
  /** Empty where it was not given, such as with a detached head: part of the key, and null equals nothing in an index. */
  branch: string;
  worktree: string;
  head: string | null;
  dirty_files: JsonText;
  unpushed_files: JsonText;
  diff_hashes: JsonText;
  session_id: string;
  updated_at: EpochMs;
}

export interface RepoCommitRow {
  workspace_id: string;
  worktree_id: string;
  /** Newest first. */
  position: number;
  repo: string;
  sha: string;
  title: string | null;
}
