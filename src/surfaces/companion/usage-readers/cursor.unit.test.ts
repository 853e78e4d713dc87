import { expect, test } from 'vitest';
import { cursorStore } from '../../../clients/cursor.ts';
import { testBatch, writeCursorStore } from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { readCursor } from './cursor.ts';

const counts = (events: readonly { payload: Readonly<Record<string, unknown>> }[]) => events.map(({ payload }) => payload.direct_counts);
const tokens = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

test("reads counters from Cursor's store, each answer once [companion.watch.cursor-counters]", async () => {
  const home = temporaryFolder();
  writeCursorStore(home, [
    { id: 'one', tokens: tokens(100, 20), model: 'gpt-5' },
    { id: 'two', tokens: tokens(50, 5) },
  ]);
  const batch = testBatch();
  const { cursor } = await readCursor({ HOME: home }, {}, batch, Date.now());
  expect(counts(batch.events)).toEqual([
    { model: 'gpt-5', input_tokens: 100, output_tokens: 20 },
    { model: 'claude-4.5-sonnet', input_tokens: 50, output_tokens: 5 },
  ]);
  expect(batch.events[0]).toMatchObject({ agent: 'cursor', source: 'cursor' });
  writeCursorStore(home, [{ id: 'three', tokens: tokens(7, 1) }]);
  const next = testBatch();
  await readCursor({ HOME: home }, cursor, next, Date.now());
  expect(counts(next.events)).toMatchObject([{ input_tokens: 7 }]);
});

test('waits for an answer in progress until it has ended or is so old that it must have ended', async () => {
  const home = temporaryFolder();
  writeCursorStore(home, [
    { id: 'one', tokens: tokens(100, 2), ended: false },
    { id: 'two', tokens: tokens(50, 5) },
  ]);
  const batch = testBatch();
  const { cursor } = await readCursor({ HOME: home }, {}, batch, Date.now());
  expect(counts(batch.events)).toMatchObject([{ input_tokens: 50 }]);
  const later = testBatch();
  await readCursor({ HOME: home }, cursor, later, Date.now() + 120_000);
  expect(counts(later.events)).toMatchObject([{ input_tokens: 100, output_tokens: 2 }, { input_tokens: 50 }]);
  writeCursorStore(home, [{ id: 'one', tokens: tokens(100, 30) }]);
  await readCursor({ HOME: home }, cursor, batch, Date.now());
  expect(counts(batch.events)).toMatchObject([{ input_tokens: 50 }, { input_tokens: 100, output_tokens: 30 }]);
});

test('an answer without both counters, or from before the start, gives no event [companion.watch.no-split-no-event]', async () => {
  const home = temporaryFolder();
  writeCursorStore(home, [
    { id: 'none' },
    { id: 'zero', tokens: tokens(0, 0) },
    { id: 'half', tokens: { inputTokens: 9 } },
    { id: 'odd', tokens: tokens(1.5, 2) },
    { id: 'old', tokens: tokens(9, 9), at: '2026-01-01T00:00:00Z' },
  ]);
  const batch = testBatch({ since: Date.now() - 60_000 });
  await readCursor({ HOME: home }, {}, batch, Date.now());
  expect(batch.events).toEqual([]);
});

test('skips an answer without a date, and does not delay other answers because of it', async () => {
  const home = temporaryFolder();
  writeCursorStore(home, [
    { id: 'ended', tokens: tokens(5, 5), at: null },
    { id: 'open', tokens: tokens(6, 6), at: null, ended: false },
    { id: 'dated', tokens: tokens(7, 7) },
  ]);
  const batch = testBatch({ since: Date.now() - 60_000 });
  const { cursor } = await readCursor({ HOME: home }, {}, batch, Date.now());
  expect(counts(batch.events)).toMatchObject([{ input_tokens: 7 }]);
  await readCursor({ HOME: home }, cursor, testBatch({ room: 0 }), Date.now());
  const next = testBatch();
  expect((await readCursor({ HOME: home }, cursor, next, Date.now())).cursor).toEqual(cursor);
  expect(next.events).toEqual([]);
});

test('counts an answer with a date in the future, as after a clock change, without waiting for that date', async () => {
  const home = temporaryFolder();
  const now = Date.now();
  writeCursorStore(home, [{ id: 'ahead', tokens: tokens(5, 5), at: new Date(now + 3_600_000).toISOString(), ended: false }]);
  const batch = testBatch();
  await readCursor({ HOME: home }, {}, batch, now);
  expect(counts(batch.events)).toMatchObject([{ input_tokens: 5 }]);
});

test('stops reading when the batch is full, and continues with the next answer later', async () => {
  const home = temporaryFolder();
  writeCursorStore(
    home,
    ['a', 'b', 'c'].map((id, at) => ({ id, tokens: tokens(at + 1, 1) })),
  );
  const full = testBatch({ room: 2 });
  const { cursor } = await readCursor({ HOME: home }, {}, full, Date.now());
  const rest = testBatch();
  await readCursor({ HOME: home }, cursor, rest, Date.now());
  expect([full.events.length, counts(rest.events)]).toMatchObject([2, [{ input_tokens: 3 }]]);
});

test('finds the store of Cursor on each operating system, and reports no error if there is none', async () => {
  expect(cursorStore({ HOME: '/h' }, 'linux')).toBe('/h/.config/Cursor/User/globalStorage/state.vscdb');
  expect(cursorStore({ HOME: '/h', XDG_CONFIG_HOME: '/x' }, 'linux')).toBe('/x/Cursor/User/globalStorage/state.vscdb');
  expect(cursorStore({ HOME: '/h' }, 'darwin')).toBe('/h/Library/Application Support/Cursor/User/globalStorage/state.vscdb');
  expect(cursorStore({ HOME: '/h', APPDATA: '/a' }, 'win32')).toBe('/a/Cursor/User/globalStorage/state.vscdb');
  expect(await readCursor({ HOME: temporaryFolder() }, {}, testBatch(), Date.now())).toEqual({ cursor: {}, tooOld: false });
});
