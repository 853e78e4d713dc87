export interface JournalGrowthRow {
  workspace_id: string;
  token_id: string;
  /** In UTC, as `2026-11-18`. */
  day: string;
  events: number;
}
