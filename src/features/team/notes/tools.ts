import type { z } from 'zod';
import { record } from '../../../kernel/call.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { notFound, ok, type Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { findRows, insertRows, matching, newId, view } from '../../../storage/rows.ts';
import type { NoteRow } from '../../../storage/schema-rows.ts';
import { callingDeveloper, type Viewer } from '../../core/identity/index.ts';
import { noteView, takeNote } from './contract.ts';

type Owns = (db: Db, workspace: string, developerId: string, id: string) => Promise<boolean>;

/** Functions that the features for tasks and workstreams provide, because only these features know who owns a task or workstream. */
export interface NotePorts {
  ownsTask: Owns;
  ownsWorkstream: Owns;
}

export function noteTools({ ownsTask, ownsWorkstream }: NotePorts): Implementation[] {
  return [
    implement(takeNote, {
      write: async (tx, { kind, title, body = null, task_id = null, workstream_id = null }, ctx) => {
        const developerId = callingDeveloper(ctx.principal);
        if (task_id && !(await ownsTask(tx.db, tx.workspace, developerId, task_id))) throw notYours('task', task_id);
        if (workstream_id && !(await ownsWorkstream(tx.db, tx.workspace, developerId, workstream_id))) throw notYours('workstream', workstream_id);
        const id = newId('note', tx.now);
        await insertRows(tx.db, 'notes', {
          workspace_id: tx.workspace,
          id,
          developer_id: developerId,
          kind,
          title,
          body,
          task_id,
          workstream_id,
          session_id: ctx.session,
          created_at: tx.now,
        });
        const payload = { note_id: id, title, body: body === null ? undefined : beginning(body, MAX_CHARACTERS), task_id, workstream_id };
        record(tx, ctx, { category: 'work', kind: `${kind}.recorded`, subject: id, payload });
        return ok({ note_id: id, kind }, kind === 'decision' ? 'Decision recorded for the team.' : 'Blocker recorded for the team.');
      },
    }),
  ];
}

/** Somebody else's task or workstream gets the same message as a missing one, so that nobody can probe for ids. */
const notYours = (noun: 'task' | 'workstream', id: string): Refusal =>
  notFound(
    noun === 'task' ? 'TASK_NOT_FOUND' : 'WORKSTREAM_NOT_FOUND',
    `${noun === 'task' ? 'Task' : 'Workstream'} ${JSON.stringify(id)} does not exist or is not yours.`,
    `Call covibe_team with operation "state" to see your ${noun}s, or leave out \`${noun}_id\`.`,
    `${noun}_id`,
  );

/** The length of the body in an event. With the title, it fits into the journal's payload limit, even if each character takes six bytes of JSON. */
const MAX_CHARACTERS = 800;

type NoteView = z.output<typeof noteView>;

const NEWEST = { created_at: 'desc', id: 'desc' } as const;

export const notesOfSession = (db: Db, workspace: string, sessionId: string, limit: number): Promise<NoteRow[]> =>
  findRows(db, 'notes', { workspace_id: workspace, session_id: sessionId }, { order: NEWEST, limit });

/** The notes since a time, newest first, reduced to what the viewer may see. */
export async function recentNotes(db: Db, workspace: string, viewer: Viewer, since: number, limit: number): Promise<NoteView[]> {
  const recent = matching(db, 'notes', { workspace_id: workspace }).where('created_at', '>=', since);
  const rows = await recent.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map((row) => view(noteView, row, { note_id: row.id, developer: viewer.name(row.developer_id) }));
}
