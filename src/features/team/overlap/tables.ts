import type { EpochMs, JsonText } from '../../../storage/columns.ts';
import type { Action } from './detect.ts';

export const ITEM_KINDS = ['task', 'workstream', 'workflow_task'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

/** `planned`, `active` and `blocked` are open work; the rest is over. */
export const ITEM_STATUSES = ['planned', 'active', 'blocked', 'completed', 'cancelled'] as const;
export type ItemStatus = (typeof ITEM_STATUSES)[number];

/** One piece of work as the index knows it, whichever feature it is of. */
export interface OverlapItemRow {
  workspace_id: string;
  id: string;
  number: number;
  kind: ItemKind;
  owner_id: string;
  title: string;
  scope: string | null;
  action: Action | null;
  component: string | null;
  task_type: string | null;
  status: ItemStatus;
  repo: string | null;
  /** `Analysed`: the terms, extracted once. */
  analysed: JsonText;
  prefix: string | null;
  files: JsonText;
  /** Rises with every change in the workspace, so that a process can read what it has not seen. */
  revision: number;
  updated_at: EpochMs;
  closed_at: EpochMs | null;
}

export interface OverlapPostingRow {
  workspace_id: string;
  term: string;
  item: number;
  weight: number;
}

export interface OverlapTermRow {
  workspace_id: string;
  term: string;
  items: number;
}

export interface OverlapStateRow {
  workspace_id: string;
  revision: number;
  items: number;
  next_number: number;
  /** What the workspace has set for itself. */
  settings: JsonText | null;
}

export interface OverlapVectorRow {
  workspace_id: string;
  item_id: string;
  model: string;
  /** Base64 of 32-bit floats. */
  vector: string;
}

export type FileSource = 'task' | 'snapshot' | 'claim';

/** A file in somebody's hands: named by an open task, changed in a working tree, or claimed. */
export interface FileMarkRow {
  workspace_id: string;
  path: string;
  source: FileSource;
  source_id: string;
  developer_id: string;
  repo: string | null;
  action: string | null;
  /** What a person would call the source: a task's title, a branch. */
  label: string | null;
  marked_at: EpochMs;
  expires_at: EpochMs | null;
}

export type CheckKind = 'task' | 'workstream';

export interface PreflightCheckRow {
  workspace_id: string;
  id: string;
  kind: CheckKind;
  developer_id: string;
  title: string;
  /** The planned task or workstream that is to be started. */
  planned_id: string | null;
  warning_id: string | null;
  /** The escalated candidates, as they were answered. Empty: no verdict needed. */
  candidates: JsonText;
  created_at: EpochMs;
  /** A check serves one start. */
  used_at: EpochMs | null;
}

export type WarningLevel = 'warn' | 'escalated';
export type WarningStatus = 'open' | 'judged' | 'confirmed' | 'dismissed';

export interface OverlapWarningRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  kind: CheckKind;
  title: string;
  /** The work that it is about, once that exists. */
  subject_id: string | null;
  check_id: string | null;
  level: WarningLevel;
  matches: JsonText;
  status: WarningStatus;
  reason: string | null;
  created_at: EpochMs;
  resolved_at: EpochMs | null;
}

export interface ScopeVerdictRow {
  workspace_id: string;
  id: string;
  check_id: string;
  warning_id: string | null;
  developer_id: string;
  subject_id: string;
  verdict: 'distinct' | 'duplicate';
  candidates: JsonText;
  confirmation_reason: string | null;
  created_at: EpochMs;
}
