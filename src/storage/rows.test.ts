import { expect, test } from 'vitest';
import { openTestStore } from '../testing/store/store.ts';
import type { Db } from './engine.ts';
import { changeRows, countRows, deleteRows, findRow, findRows, insertRows, matching, rowsById } from './rows.ts';
import type { NoteRow } from './schema-rows.ts';

const W = 'ws_test';
const note = (at: number, values: Partial<NoteRow> = {}): NoteRow => ({
  workspace_id: W,
  id: `note_${at}`,
  session_id: null,
  developer_id: 'dev_1',
  kind: 'decision',
  title: `note ${at}`,
  body: null,
  task_id: null,
  workstream_id: null,
  created_at: at,
  ...values,
});

/** Runs `work` in one write, and what it finds afterwards outside of it. */
async function written<T>(rows: readonly NoteRow[], work: (db: Db) => Promise<T>): Promise<T> {
  const store = await openTestStore();
  return await store.write(W, async ({ db }) => {
    await insertRows(db, 'notes', rows);
    return await work(db);
  });
}
const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

test('a value is equal, a list means any of its values, null means none, and undefined does not count', async () => {
  const rows = [note(1, { task_id: 't1' }), note(2), note(3, { kind: 'blocker' }), note(4, { workspace_id: 'ws_other' })];
  await written(rows, async (db) => {
    const found = async (match: Parameters<typeof findRows<'notes'>>[2]) =>
      ids(await findRows(db, 'notes', { workspace_id: W, ...match }, { order: { id: 'asc' } }));
    expect(await found({})).toEqual(['note_1', 'note_2', 'note_3']);
    expect(await found({ id: ['note_3', 'note_1', 'note_4'] })).toEqual(['note_1', 'note_3']);
    expect(await found({ task_id: null })).toEqual(['note_2', 'note_3']);
    expect(await found({ task_id: 't1', kind: undefined })).toEqual(['note_1']);
    expect(await found({ kind: 'blocker', task_id: 't1' })).toEqual([]);
  });
});

test('nothing is in an empty list: nothing is found, counted, changed or deleted by one', async () => {
  await written([note(1)], async (db) => {
    const none = { workspace_id: W, id: [] };
    expect(await findRows(db, 'notes', none)).toEqual([]);
    expect(await rowsById(db, 'notes', W, [])).toEqual(new Map());
    expect(await countRows(db, 'notes', none)).toBe(0);
    await changeRows(db, 'notes', none, { title: 'changed' });
    await deleteRows(db, 'notes', none);
    expect(await findRow(db, 'notes', { id: 'note_1' })).toEqual(note(1));
  });
});

test('rows come in order, a page of them if need be; one row is the first in order', async () => {
  const rows = [note(1), note(2, { created_at: 1 }), note(3), note(4)];
  await written(rows, async (db) => {
    const order = { created_at: 'desc', id: 'asc' } as const;
    expect(ids(await findRows(db, 'notes', { workspace_id: W }, { order }))).toEqual(['note_4', 'note_3', 'note_1', 'note_2']);
    expect(ids(await findRows(db, 'notes', { workspace_id: W }, { order, limit: 2, offset: 1 }))).toEqual(['note_3', 'note_1']);
    expect((await findRow(db, 'notes', { workspace_id: W }, order))?.id).toBe('note_4');
    expect(await findRow(db, 'notes', { workspace_id: W, id: 'note_5' })).toBeUndefined();
    const narrowed = matching(db, 'notes', { workspace_id: W, kind: ['decision'] }).where('created_at', '>', 3);
    expect(await narrowed.select('id').execute()).toEqual([{ id: 'note_4' }]);
  });
});

test('any number of rows is inserted; what matches is counted, changed and deleted, and nothing else', async () => {
  const rows = Array.from({ length: 1_201 }, (_, at) => note(at));
  await written(rows, async (db) => {
    expect(await countRows(db, 'notes', { workspace_id: W })).toBe(1_201);
    expect([...(await rowsById(db, 'notes', W, ['note_7', 'note_1200', 'note_none'])).values()]).toEqual([note(7), note(1200)]);
    await changeRows(db, 'notes', { workspace_id: W, id: ['note_7', 'note_8'] }, { kind: 'blocker', body: null });
    expect(await countRows(db, 'notes', { workspace_id: W, kind: 'blocker' })).toBe(2);
    await deleteRows(db, 'notes', { workspace_id: W, kind: 'blocker' });
    expect(await countRows(db, 'notes', { workspace_id: W })).toBe(1_199);
    await insertRows(db, 'notes', note(7));
    expect(await findRow(db, 'notes', { id: 'note_7' })).toEqual(note(7));
  });
});
