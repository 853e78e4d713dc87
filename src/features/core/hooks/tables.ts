import type { EpochMs, JsonText } from '../../../storage/columns.ts';

/** One run of an agent's program, from its first hook to its last. */
export interface ClientRunRow {
  workspace_id: string;
  actor: string;
  /** The program's own id of the run. */
  client_session: string;
  client: string;
  developer_id: string;
  /** The agent session that stands for it. */
  session_id: string | null;
  /** 1: the server has started that session for it, and ends it when the agent starts one itself. */
  automatic: number;
  repo: string | null;
  folder: string | null;
  /** 1: its context was compacted, and what it has to know has not been put back yet. */
  compacted: number;
  /** The newest handoff that it was told of: they have no receipts. */
  handoffs_told: string | null;
  /** Hash of what was named when it last wanted to stop, so that it is not held up twice for the same. */
  told_at_stop: string | null;
  /** What it was denied in the last minute, by claim and path, and when. */
  denials: JsonText;
  /** What it found in the working tree: hashes of the paths that were not committed, and how many commits of each branch were not pushed. */
  found: JsonText;
  started_at: EpochMs;
  last_seen_at: EpochMs;
  ended_at: EpochMs | null;
}
