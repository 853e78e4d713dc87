import type { EpochMs, JsonText } from './columns.ts';

export type EventCategory = 'usage' | 'work' | 'feedback' | 'audit';
export const EVENT_CATEGORIES = ['usage', 'work', 'feedback', 'audit'] as const satisfies readonly EventCategory[];

export interface EventRow {
  workspace_id: string;
  seq: number;
  category: EventCategory;
  kind: string;
  actor: string;
  subject: string | null;
  session: string | null;
  /** Canonical JSON: the hash is over exactly this text. */
  payload: JsonText;
  time: EpochMs;
  hash: string;
}

/** The end of each workspace's chain, so that an append reads one row and a cut-off tail is noticed. */
export interface JournalHeadRow {
  workspace_id: string;
  seq: number;
  hash: string;
}

/** Where a pruned journal begins: its last deleted event, as verified when it was deleted. */
export interface JournalAnchorRow {
  workspace_id: string;
  seq: number;
  hash: string;
  /** The time of that event. */
  time: EpochMs;
}

export interface SchemaMigrationRow {
  number: number;
  name: string;
  applied_at: EpochMs;
}
