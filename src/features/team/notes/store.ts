import type { z } from 'zod';
import type { Principal } from '../../../kernel/context.ts';
import type { Db } from '../../../storage/engine.ts';
import { findRows, insertRows, matching } from '../../../storage/rows.ts';
import type { NoteRow } from '../../../storage/schema-rows.ts';
import { namesFor } from '../../core/identity/index.ts';
import type { noteView } from './contract.ts';

export type NoteView = z.output<typeof noteView>;

export const insertNote = (db: Db, note: NoteRow) => insertRows(db, 'notes', note);

const NEWEST = { created_at: 'desc', id: 'desc' } as const;

export const notesOfSession = (db: Db, workspace: string, sessionId: string, limit: number): Promise<NoteRow[]> =>
  findRows(db, 'notes', { workspace_id: workspace, session_id: sessionId }, { order: NEWEST, limit });

/** The newest first, as `viewer` may see them. */
export async function recentNotes(db: Db, workspace: string, viewer: Principal | null, since: number, limit: number): Promise<NoteView[]> {
  const recent = matching(db, 'notes', { workspace_id: workspace }).where('created_at', '>=', since);
  const rows = await recent.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  const name = await namesFor(db, workspace, viewer);
  return rows.map(({ id, kind, title, body, developer_id, task_id, workstream_id, created_at }) => ({
    note_id: id,
    kind,
    title,
    body,
    developer: name(developer_id),
    task_id,
    workstream_id,
    created_at,
  }));
}
