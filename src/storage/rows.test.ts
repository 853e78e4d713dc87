import { expect, test } from 'vitest';
import { openTestStore } from '../testing/store/store.ts';
import type { Db } from './engine.ts';
import {
  changeRows,
  countRows,
  deleteEverywhere,
  deleteRows,
  findRow,
  findRows,
  hasRow,
  insertNewRow,
  insertRows,
  matching,
  pageOf,
  rowsById,
  saveRows,
} from './rows.ts';
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

/** Runs `work` in one write and returns what it finds. */
async function written<T>(rows: readonly NoteRow[], work: (db: Db) => Promise<T>): Promise<T> {
  const store = await openTestStore();
  return await store.write(W, async ({ db }) => {
    await insertRows(db, 'notes', rows);
    return await work(db);
  });
}
const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

test('a value matches itself, a list matches any of its values, null matches null, and undefined is ignored', async () => {
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

test('an empty list matches nothing when reading, counting, changing and deleting', async () => {
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

test('returns all rows in order, one page of them, or the first row', async () => {
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

test('inserts any number of rows, and counts, changes and deletes exactly the matching ones', async () => {
  const rows = Array.from({ length: 1_201 }, (_, at) => note(at));
  await written(rows, async (db) => {
    expect(await countRows(db, 'notes', { workspace_id: W })).toBe(1_201);
    const byId = await rowsById(db, 'notes', W, ['note_7', 'note_1200', 'note_none']);
    expect(byId).toEqual(new Map([7, 1_200].map((at) => [`note_${at}`, note(at)])));
    expect(await rowsById(db, 'notes', W, ['note_7'], ['title'])).toEqual(new Map([['note_7', { id: 'note_7', title: 'note 7' }]]));
    await changeRows(db, 'notes', { workspace_id: W, id: ['note_7', 'note_8'] }, { kind: 'blocker', body: null });
    expect(await countRows(db, 'notes', { workspace_id: W, kind: 'blocker' })).toBe(2);
    await deleteRows(db, 'notes', { workspace_id: W, kind: 'blocker' });
    expect(await countRows(db, 'notes', { workspace_id: W })).toBe(1_199);
    await insertRows(db, 'notes', note(7));
    expect(await findRow(db, 'notes', { id: 'note_7' })).toEqual(note(7));
  });
});

test('compares a column with one or two bounds, or checks that it has a value', async () => {
  const rows = [note(1, { task_id: 't1' }), note(2), note(3, { task_id: 't3' }), note(4)];
  await written(rows, async (db) => {
    const found = async (match: Parameters<typeof findRows<'notes'>>[2]) => ids(await findRows(db, 'notes', match, { order: { id: 'asc' } }));
    expect(await found({ created_at: { '>': 2 } })).toEqual(['note_3', 'note_4']);
    expect(await found({ created_at: { '>=': 2, '<': 4 } })).toEqual(['note_2', 'note_3']);
    expect(await found({ created_at: { '<=': 2 }, id: { '!=': 'note_1' } })).toEqual(['note_2']);
    expect(await found({ task_id: { '!=': null } })).toEqual(['note_1', 'note_3']);
    expect(await found({ created_at: undefined, id: { '>=': 'note_4' } })).toEqual(['note_4']);
  });
});

test('reports whether a row exists, and how many rows a change and a deletion matched', async () => {
  await written([note(1), note(2)], async (db) => {
    expect(await hasRow(db, 'notes', { workspace_id: W, kind: 'decision' })).toBe(true);
    expect(await hasRow(db, 'notes', { workspace_id: W, kind: 'blocker' })).toBe(false);
    expect(await hasRow(db, 'notes', { workspace_id: W, id: [] })).toBe(false);
    expect(await changeRows(db, 'notes', { workspace_id: W }, { body: 'more' })).toBe(2);
    expect(await changeRows(db, 'notes', { id: 'note_5' }, { body: 'more' })).toBe(0);
    expect(await deleteRows(db, 'notes', { id: 'note_1' })).toBe(1);
    expect(await deleteRows(db, 'notes', { id: 'note_1' })).toBe(0);
  });
});

test('a page contains its rows and the total number', async () => {
  await written(
    [1, 2, 3].map((at) => note(at)),
    async (db) => {
      const query = matching(db, 'notes', { workspace_id: W, created_at: { '>': 1 } })
        .select('id')
        .orderBy('id', 'desc');
      expect(await pageOf(query, { limit: 1, offset: 1 })).toEqual({ rows: [{ id: 'note_2' }], total: 2 });
    },
  );
});

test('inserting does not change an existing row, and saving gives it the new values', async () => {
  await written([note(1)], async (db) => {
    const key = ['workspace_id', 'id'] as const;
    expect(await insertNewRow(db, 'notes', note(1, { title: 'new' }))).toBe(false);
    expect(await insertNewRow(db, 'notes', note(2))).toBe(true);
    expect(await findRow(db, 'notes', { id: 'note_1' })).toEqual(note(1));
    await saveRows(db, 'notes', key, note(1, { title: 'changed', body: 'text' }));
    await saveRows(db, 'notes', key, [note(2, { title: 'changed' }), note(3)]);
    expect(await findRows(db, 'notes', {}, { order: { id: 'asc' } })).toEqual([
      note(1, { title: 'changed', body: 'text' }),
      note(2, { title: 'changed' }),
      note(3),
    ]);
  });
});

test('deletes matching rows in every workspace', async () => {
  const store = await openTestStore();
  for (const [index, workspace] of [W, 'ws_other'].entries()) {
    const rows = [1, 5].map((at) => note(at, { workspace_id: workspace, id: `note_${index}_${at}` }));
    await store.write(workspace, ({ db }) => insertRows(db, 'notes', rows));
  }
  await deleteEverywhere(store, 'notes', { created_at: { '<': 5 } });
  expect(ids(await findRows(store.reader, 'notes', {}, { order: { id: 'asc' } }))).toEqual(['note_0_5', 'note_1_5']);
});
