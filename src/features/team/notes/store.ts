import type { z } from 'zod';
import type { Principal } from '../../../kernel/context.ts';
import type { Db } from '../../../storage/engine.ts';
import type { NoteRow } from '../../../storage/schema-rows.ts';
import { namesFor } from '../../core/identity/index.ts';
import type { noteView } from './contract.ts';

export type NoteView = z.output<typeof noteView>;

export async function insertNote(db: Db, note: NoteRow): Promise<void> {
  await db.insertInto('notes').values(note).execute();
}

export async function notesOfSession(db: Db, workspace: string, sessionId: string, limit: number): Promise<NoteRow[]> {
  return await db
    .selectFrom('notes')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('session_id', '=', sessionId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** The newest first, as `viewer` may see them. */
export async function recentNotes(db: Db, workspace: string, viewer: Principal | null, since: number, limit: number): Promise<NoteView[]> {
  const rows = await db
    .selectFrom('notes')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('created_at', '>=', since)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
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
