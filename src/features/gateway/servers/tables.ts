import type { EpochMs, JsonText } from '../../../storage/columns.ts';

/** Another MCP server that has answered once. Kept in the default workspace: the entry is the whole server's, not a team's. */
export interface UpstreamRow {
  workspace_id: string;
  name: string;
  /** What it said of itself: protocol revision, capabilities, name and version; resources and templates as last listed. */
  facts: JsonText;
  first_seen_at: EpochMs;
}

export const PIN_KINDS = ['tool', 'prompt'] as const;
export type PinKind = (typeof PIN_KINDS)[number];

/** A definition as it was approved, and as it was last seen where that is another. */
export interface UpstreamPinRow {
  workspace_id: string;
  server: string;
  kind: PinKind;
  /** As the server calls it. */
  name: string;
  /** As it is offered. Who was seen first under a name keeps it. */
  exposed: string;
  /** Null: never approved. */
  approved: JsonText | null;
  approved_hash: string | null;
  approved_at: EpochMs | null;
  /** `first-sight`, or the actor who approved it. */
  approved_by: string | null;
  /** Null: the server lists it no more. */
  seen: JsonText | null;
  seen_hash: string | null;
  seen_at: EpochMs;
}
