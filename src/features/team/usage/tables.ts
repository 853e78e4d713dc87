import type { EpochMs } from '../../../storage/columns.ts';

/** Tokens that one model used. All that is kept of a payload: counters, the model's name, and the hash of the whole. */
export interface AgentSpanRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  session_id: string | null;
  agent_type: string | null;
  source: string;
  model: string | null;
  provider: string | null;
  input_tokens: number;
  cached_input_tokens: number;
  cache_creation_tokens: number;
  cache_creation_1h_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  total_tokens: number;
  /** In micro-dollars, by `price_version`; null: no known price. */
  cost_micros: number | null;
  price_version: string | null;
  /** Of the whole payload, on the first of its spans. */
  submitted_micros: number | null;
  cost_mismatch: number;
  verified: number;
  payload_sha256: string;
  ingested_at: EpochMs;
}

/** A price that the workspace set for itself. The newest version of a model holds; one without figures takes it back. */
export interface ModelPriceRow {
  workspace_id: string;
  version: number;
  model: string;
  /** Micro-dollars for a million tokens. */
  input: number | null;
  cached_input: number | null;
  cache_write: number | null;
  cache_write_1h: number | null;
  output: number | null;
  set_by: string;
  set_at: EpochMs;
}
