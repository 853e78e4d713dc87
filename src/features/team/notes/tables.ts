import type { EpochMs } from '../../../storage/columns.ts';

export const NOTE_KINDS = ['decision', 'blocker'] as const;
export type NoteKind = (typeof NOTE_KINDS)[number];

/** Something that the team should know: decided, or in the way. Never changed; a blocker is recent or it is past. */
export interface NoteRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  kind: NoteKind;
  title: string;
  body: string | null;
  task_id: string | null;
  workstream_id: string | null;
  session_id: string | null;
  created_at: EpochMs;
}
