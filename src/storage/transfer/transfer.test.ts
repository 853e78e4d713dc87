import fc from 'fast-check';
import { type KyselyPlugin, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { inRun } from '../../testing/scope.ts';
import { ENGINE } from '../../testing/store/database.ts';
import {
  ANYWHERE,
  anyRows,
  EVERY_ROW,
  exported,
  fileOf,
  fillEveryTable,
  hardText,
  type Place,
  placeOn,
  unchainedJournal,
  W,
} from '../../testing/store/transfer.ts';
import { ChainVerifier } from '../chain-verifier.ts';
import { readAnchor, readEvents, readHead } from '../journal.ts';
import { SCHEMA_VERSION } from '../migrate.ts';
import { exportWorkspace } from './export.ts';
import { TransferRefused } from './format.ts';
import { importWorkspace } from './import.ts';
import { LEFT_OUT, TABLES } from './layout.ts';
import { openAsItIs, ROWS_PER_PAGE } from './snapshot.ts';
import { rowCounts } from './target-workspace.ts';

async function filled(engine: 'sqlite' | 'postgres' = ENGINE): Promise<Place> {
  const place = await placeOn(engine);
  await fillEveryTable(place.store, 7);
  return place;
}

const taken = (place: Place, file: string, unverified = false) => importWorkspace(place.store.engine, { file, unverified, rules: EVERY_ROW, place: ANYWHERE });

async function refusal(work: Promise<unknown>): Promise<TransferRefused> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TransferRefused)) throw new Error('it was not refused', { cause: error });
  return error;
}

const isEmpty = async ({ store }: Place, workspace = W) => Object.values(await rowCounts(store.reader, workspace)).every((count) => count === 0);

test(`a transfer from SQLite to ${ENGINE} and back keeps every table, row and byte and the journal head, and the chain is valid`, async () => {
  const [from, to, back] = [await filled('sqlite'), await placeOn(), await placeOn('sqlite')];
  const first = await exported(from);
  await taken(to, first.path);
  const second = await exported(to, { now: 2_000 });
  await taken(back, second.path);
  const third = await exported(back, { now: 1_000 });

  expect(Object.entries(first.rows).filter(([, count]) => count === 0)).toEqual([]);
  expect([...Object.keys(first.rows), ...LEFT_OUT].length).toBe(TABLES.length + LEFT_OUT.length);
  expect(second.lines.slice(1, -1)).toEqual(first.lines.slice(1, -1));
  expect(JSON.parse(second.lines[0] as string)).toEqual({ ...JSON.parse(first.lines[0] as string), exported_at: 2_000 });
  expect(third.text).toBe(first.text);
  expect(await readHead(back.store.reader, W)).toEqual(await readHead(from.store.reader, W));
  expect(await rowCounts(to.store.reader, W)).toEqual(first.rows);

  const anchor = await readAnchor(to.store.reader, W);
  const chain = new ChainVerifier(anchor);
  for (const event of await readEvents(to.store.reader, W, 0, 1_000)) chain.add(event);
  expect(chain.finish(await readHead(to.store.reader, W), anchor)).toMatchObject({ valid: true, events: 16 });
  expect(await to.store.append(W, [{ category: 'work', kind: 'after', actor: 'a' }])).toBe(first.journal.seq + 1);
});

test.runIf(ENGINE === 'postgres')('a database with a language-specific text order gives the same bytes', async () => {
  const [from, to] = [await filled('sqlite'), await placeOn(ENGINE, { bare: true })];
  await to.store.engine.transaction(W, async (db) => {
    await sql`alter table notes alter column id type text collate "en-x-icu"`.execute(db);
    await sql`alter table settings alter column key type text collate "en-x-icu"`.execute(db);
  });
  const file = await exported(from);
  await taken(to, file.path);
  expect((await exported(to)).text).toBe(file.text);
});

test('any text in a row arrives unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(hardText, { minLength: 1, maxLength: 12 }),
      inRun(async (texts: string[]) => {
        const [from, to] = [await placeOn(), await placeOn()];
        await from.store.engine.transaction(W, async (db) => {
          await db.insertInto('workspaces').values({ id: W, name: 'moving', created_at: 1 }).execute();
          const rows = texts.map((value, n) => ({ workspace_id: W, key: `${n}`, value, updated_at: n, updated_by: 'ü' }));
          await db
            .insertInto('settings')
            .values([...rows, { ...(rows[0] as (typeof rows)[0]), key: 'huge', value: `${texts[0]}${'ä\n'.repeat(100_000)}` }])
            .execute();
        });
        await taken(to, (await exported(from)).path);
        const all = ({ store }: Place) => store.reader.selectFrom('settings').selectAll().orderBy('updated_at').orderBy('key').execute();
        expect(await all(to)).toEqual(await all(from));
      }),
    ),
    { numRuns: 3, seed: 10 },
  );
});

describe('a damaged file', () => {
  const without = (lines: string[], at: number) => lines.filter((_, index) => index !== at);
  const swapped = (lines: string[], a: number) => lines.with(a, lines[a + 1] as string).with(a + 1, lines[a] as string);
  const first = (lines: string[], table: string) => lines.findIndex((line) => line.startsWith(`{"table":"${table}"`));
  const header = (lines: string[], change: object) => lines.with(0, `${JSON.stringify({ ...JSON.parse(lines[0] as string), ...change })}\n`);
  const end = (lines: string[], change: (value: { rows: Record<string, number>; journal: { seq: number } }) => void) => {
    const value = JSON.parse(lines.at(-1) as string);
    change(value);
    return lines.with(-1, `${JSON.stringify(value)}\n`);
  };

  test('each kind of damage is refused with its line, and nothing changes', async () => {
    const from = await filled();
    const { lines } = await exported(from);
    const target = await placeOn();
    const last = lines.length;
    const notes = first(lines, 'notes');
    const event = first(lines, 'events');
    const ways: [string, string[], string, RegExp][] = [
      ['a row is missing', without(lines, notes), 'FILE_DAMAGED', new RegExp(`^line ${last - 1}: sha256`)],
      ['an event is missing', without(lines, event + 3), 'FILE_DAMAGED', new RegExp(`^line ${event + 4}: .* event 9 is missing`)],
      ['a row is there twice', lines.toSpliced(notes, 0, lines[notes] as string), 'FILE_DAMAGED', /^line|^lines/],
      ['two rows are swapped', swapped(lines, notes), 'FILE_DAMAGED', new RegExp(`^line ${last}: sha256`)],
      ['two events are swapped', swapped(lines, event + 3), 'FILE_DAMAGED', new RegExp(`^line ${event + 4}: .*chain breaks`)],
      [
        'a table is out of order',
        [...lines.slice(0, -1), lines[notes] as string, lines.at(-1) as string],
        'FILE_DAMAGED',
        new RegExp(`^line ${last}: table: notes`),
      ],
      ['the last line is missing', lines.slice(0, -1), 'FILE_DAMAGED', new RegExp(`^line ${last - 1}: .*cut short`)],
      ['it ends within a line', [lines.join('').slice(0, -100)], 'FILE_DAMAGED', new RegExp(`^line ${last}: `)],
      ['it continues after its end line', [...lines, lines[1] as string], 'FILE_DAMAGED', new RegExp(`^line ${last + 1}: `)],
      [
        'the anchor differs',
        lines.map((line) => (line.startsWith('{"table":"journal_anchors"') ? line.replace('"seq":5', '"seq":4') : line)),
        'FILE_DAMAGED',
        new RegExp(`^line ${event + 1}: `),
      ],
      [
        'a row is of another workspace',
        lines.with(notes, (lines[notes] as string).replace(`"workspace_id":"${W}"`, '"workspace_id":"ws_other"')),
        'FILE_DAMAGED',
        new RegExp(`^line ${notes + 1}: notes.workspace_id`),
      ],
      [
        'a table is unknown',
        lines.with(notes, (lines[notes] as string).replace('"notes"', '"schema_migrations"')),
        'FILE_DAMAGED',
        new RegExp(`^line ${notes + 1}: table`),
      ],
      ['its end line has another count', end(lines, (value) => (value.rows.notes = 99)), 'FILE_DAMAGED', new RegExp(`^line ${last}: rows.notes`)],
      ['its end line has another head', end(lines, (value) => value.journal.seq++), 'FILE_DAMAGED', new RegExp(`^line ${last}: journal`)],
      ['it is of an older schema', header(lines, { schema: SCHEMA_VERSION - 1 }), 'EXPORT_OLDER', /^line 1: schema/],
      ['it is of a newer schema', header(lines, { schema: SCHEMA_VERSION + 1 }), 'EXPORT_NEWER', /^line 1: schema/],
      ['it is of a newer format', header(lines, { format: 2, news: true }), 'EXPORT_NEWER', /^line 1: format/],
      ['its header has more than it should', header(lines, { more: 1 }), 'FILE_DAMAGED', /^line 1: /],
      ['it is something else', ['{"kind":"other"}\n'], 'NOT_AN_EXPORT', /^line 1/],
      ['it is empty', [], 'NOT_AN_EXPORT', /^line 1/],
    ];
    for (const [way, damagedLines, code, message] of ways) {
      const { code: found, message: said, next } = await refusal(taken(target, fileOf(damagedLines.join(''))));
      expect([way, found, said]).toEqual([way, code, expect.stringMatching(message)]);
      expect(next).not.toBe('');
      expect([way, await isEmpty(target)]).toEqual([way, true]);
    }
    await taken(target, fileOf(lines.join('')));
  });

  // The file is refused while reading, which is the same for both engines.
  test.runIf(ENGINE === 'sqlite')('a single changed byte is refused at any position, and nothing changes', async () => {
    const from = await placeOn();
    await fillEveryTable(from.store, 11, 1);
    const bytes = Buffer.from((await exported(from)).text);
    const target = await placeOn();
    const changed = (at: number, by: number) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] as number) ^ by;
      return copy;
    };
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.nat(bytes.length - 1), fc.integer({ min: bytes.length - 1_500, max: bytes.length - 1 })),
        fc.integer({ min: 1, max: 255 }),
        inRun(async (at: number, by: number) => {
          await refusal(taken(target, fileOf(changed(at, by))));
        }),
      ),
      {
        numRuns: 40,
        seed: 10,
        examples: [
          // The newline at the very end becomes a space.
          [bytes.length - 1, 0x2a],
          [0, 1],
        ],
      },
    );
    expect(await isEmpty(target)).toBe(true);
  });
});

describe('the target of an import', () => {
  test('an import replaces a workspace that has only the rows of a first start', async () => {
    const [from, target] = [await filled(), await placeOn()];
    await target.store.write(W, async (tx) => {
      await tx.db.insertInto('workspaces').values({ id: W, name: 'moving', created_at: 1 }).execute();
      tx.append({ category: 'work', kind: 'workspace.created', actor: 'operator', subject: W });
      tx.append({ category: 'usage', kind: 'server.status', actor: 'operator' });
    });
    const file = await exported(from);
    await taken(target, file.path);
    expect((await exported(target)).text).toBe(file.text);
  });

  test('an import does not change a workspace in use, and the refusal names its content', async () => {
    const { path } = await exported(await filled());
    const target = await placeOn();
    await target.store.write(W, async (tx) => {
      await tx.db.insertInto('settings').values({ workspace_id: W, key: 'k', value: '1', updated_at: 1, updated_by: 'ana' }).execute();
    });
    expect(await refusal(taken(target, path))).toMatchObject({ code: 'WORKSPACE_IN_USE', message: expect.stringContaining('rows in settings') });
    expect(await anyRows(target.store).selectFrom('settings').selectAll().execute()).toHaveLength(1);
    await target.store.write(W, async (tx) => {
      await tx.db.deleteFrom('settings').execute();
      tx.append({ category: 'work', kind: 'note.written', actor: 'ana' });
    });
    expect(await refusal(taken(target, path))).toMatchObject({ code: 'WORKSPACE_IN_USE', message: expect.stringContaining('event 1, note.written') });
    // A second import finds the first.
    const other = await placeOn();
    await taken(other, path);
    expect(await refusal(taken(other, path))).toMatchObject({ code: 'WORKSPACE_IN_USE' });
  });

  test('an import does not change other workspaces, and is refused if another workspace has a value that must be unique', async () => {
    const from = await filled();
    const file = await exported(from);
    const target = await placeOn();
    const [token] = await from.store.reader.selectFrom('tokens').selectAll().where('workspace_id', '=', W).execute();
    await target.store.engine.transaction('ws_other', async (db) => {
      await db
        .insertInto('tokens')
        .values({ ...(token as NonNullable<typeof token>), workspace_id: 'ws_other' })
        .execute();
    });
    const refused = await refusal(taken(target, file.path));
    expect(refused).toMatchObject({ code: 'COLLIDES', message: expect.stringMatching(/^line \d+: workspace "other" .* tokens with the same hash/) });
    expect(await isEmpty(target)).toBe(true);
    await target.store.engine.transaction('ws_other', async (db) => void (await db.updateTable('tokens').set({ hash: 'of its own' }).execute()));
    await taken(target, file.path);
    expect((await rowCounts(target.store.reader, 'ws_other')).tokens).toBe(1);
    expect((await exported(target)).text).toBe(file.text);
  });
});

test('a journal with a broken chain is exported and imported only with --unverified', async () => {
  const from = await filled();
  await from.store.engine.transaction(W, async (db) => {
    await db.updateTable('events').set({ actor: 'somebody else' }).where('workspace_id', '=', W).where('seq', '=', 9).execute();
  });
  expect(await refusal(exported(from))).toMatchObject({ code: 'CHAIN_BROKEN', message: expect.stringContaining('event 9') });
  const file = await exported(from, { unverified: true });
  expect(file.firstBreak).toMatchObject({ seq: 9 });
  expect(JSON.parse(file.lines[0] as string)).toMatchObject({ verified: false });
  const target = await placeOn();
  expect(await refusal(taken(target, file.path))).toMatchObject({ code: 'UNVERIFIED' });
  await taken(target, file.path, true);
  expect((await exported(target, { unverified: true })).text).toBe(file.text);
});

test('an anchor that no event confirms counts as a broken chain', async () => {
  const from = await placeOn();
  await fillEveryTable(from.store, 3, 1);
  const [sixth] = await readEvents(from.store.reader, W, 5, 1);
  await from.store.engine.transaction(W, async (db) => {
    await db
      .updateTable('journal_anchors')
      .set({ seq: 6, hash: sixth?.hash ?? '' })
      .execute();
  });
  expect(await refusal(exported(from))).toMatchObject({ code: 'CHAIN_BROKEN', message: expect.stringContaining('attests') });
});

test('an export contains the data of one moment, even if others write meanwhile', async () => {
  const from = await filled();
  const before = await exported(from);
  const lines: string[] = [];
  const during = await exported(from, {
    write: async (text) => {
      lines.push(text);
      await from.store.write(W, async (tx) => {
        await tx.db.updateTable('notes').set({ title: 'changed' }).execute();
        tx.append({ category: 'work', kind: 'meanwhile', actor: 'ana' });
      });
    },
  });
  expect(during.journal).toEqual(before.journal);
  expect(lines.join('')).toBe(before.text);
});

test('refuses a missing workspace and a missing database', async () => {
  const place = await placeOn();
  expect(await refusal(exported(place))).toMatchObject({ code: 'NOT_FOUND' });
  const nowhere = { ...place, database: { ...place.database, url: undefined, path: `${place.database.path}.none` } };
  expect(await refusal(exported(nowhere))).toMatchObject({ code: 'NOTHING_TO_EXPORT' });
});

test('an export keeps at most one page of rows in memory: it reads the next page after it has written the last', async () => {
  const EVENTS = 100_000;
  const from = await placeOn();
  await unchainedJournal(from.store, EVENTS);
  const engine = await openAsItIs(from.database);
  let read = 0;
  let most = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      read += result.rows.length;
      return result;
    },
  };
  let written = 0;
  const write = async (lines: string) => {
    most = Math.max(most, read - written);
    await new Promise(setImmediate);
    written += lines.split('\n').length - 1;
  };
  const counted = { ...engine, reader: engine.reader.withPlugin(counting) };
  const { rows } = await exportWorkspace(counted, { workspace: W, version: '1.2.3', now: 1, unverified: true, write });
  await engine.close();
  expect(rows.events).toBe(EVENTS);
  // In addition to the page, the export looks up the workspace, the anchor and the head.
  expect(most).toBeGreaterThanOrEqual(ROWS_PER_PAGE);
  expect(most).toBeLessThanOrEqual(ROWS_PER_PAGE + 3);
});
