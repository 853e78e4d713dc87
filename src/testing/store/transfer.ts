import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Kysely, sql } from 'kysely';
import { PRUNED } from '../../storage/chain-verifier.ts';
import type { EngineKind } from '../../storage/engine.ts';
import { readEvents } from '../../storage/journal.ts';
import type { Store } from '../../storage/open.ts';
import { type ExportOptions, type ExportResult, exportWorkspace } from '../../storage/transfer/export.ts';
import { writeRow } from '../../storage/transfer/format.ts';
import { TABLES, type TableLayout, type TransferRow, type Value } from '../../storage/transfer/layout.ts';
import type { ImportPlace, RowRules } from '../../storage/transfer/row-rules.ts';
import { openAsItIs } from '../../storage/transfer/snapshot.ts';
import { type TestDatabase, temporaryDatabase, temporaryFolder } from './database.ts';
import { openTestStore } from './store.ts';

export const W = 'ws_moving';

/** Import rules that accept every row. They are used to test the transfer itself with rows that contain random values. */
export const EVERY_ROW = Object.fromEntries(TABLES.map(({ name }) => [name, (row: TransferRow) => ({ row })])) as unknown as RowRules;
export const ANYWHERE: ImportPlace = { now: 1_000, agentTokenEnd: null, isAllowed: () => true };

export interface Place {
  readonly database: TestDatabase;
  readonly store: Store;
}

export async function placeOn(engine?: EngineKind, options: { bare?: boolean } = {}): Promise<Place> {
  const database = await temporaryDatabase(engine, options);
  return { database, store: await openTestStore(database) };
}

export const anyRows = (store: Store) => store.reader as unknown as Kysely<Record<string, TransferRow>>;

/** Generates difficult text, with characters from all Unicode planes, separators, quotes, and text that looks like an escape sequence. */
export const hardText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\0', '')),
  fc.constantFrom('', ' ', '\n', '\r\n', '\u2028\u2029', '\ufeff', '\\u0000', '{"a":"\\n"}', "'';--", '\u{1f9e6}e\u0301', '\ud7ff\ue000'),
);
const anyNumber = fc.oneof(fc.integer(), fc.constantFrom(0, 1, -1, 2 ** 31 - 1));

/** Adds rows to all tables, and a journal that was pruned once. */
export async function fillEveryTable(store: Store, seed: number, rowsEach = 3): Promise<void> {
  const values = { text: sampled(hardText, seed), number: sampled(anyNumber, seed) };
  await store.engine.transaction(W, async (db) => {
    for (const table of TABLES) {
      if (['events', 'journal_heads', 'journal_anchors'].includes(table.name)) continue;
      const isOne = table.key.length === 1 && table.key[0] === table.owner;
      for (let n = 0; n < (isOne ? 1 : rowsEach); n++) {
        await (db as unknown as Kysely<Record<string, TransferRow>>)
          .insertInto(table.name)
          .values(rowFor(table, n, values))
          .execute();
      }
    }
  });
  await journalOf(store, 20);
  await cutAt(store, 5);
}

function rowFor(table: TableLayout, n: number, values: { text(): string; number(): number }): TransferRow {
  const named = new Set([...table.key, ...table.uniqueAcross.flat(), 'name', 'id']);
  const valueFor = (column: string, type: string, nullable: boolean): Value => {
    if (column === table.owner) return W;
    if (table.name === 'workspaces' && column === 'name') return 'moving';
    if (nullable && (n + column.length) % 3 === 0) return null;
    // Values of unique columns contain the number of the row. They begin with letters that a collation does not sort in the order of their bytes.
    if (type === 'text') return named.has(column) ? `${['b', 'Ä', 'B', 'a'][n % 4]}${n}${values.text().slice(0, 8)}` : values.text();
    return type === 'integer' ? n : values.number() * (type === 'bigint' ? 1_000 : 1);
  };
  return Object.fromEntries([...table.columns].map(([column, { type, nullable }]) => [column, valueFor(column, type, nullable)]));
}

function sampled<T>(arbitrary: fc.Arbitrary<T>, seed: number): () => T {
  const all = fc.sample(arbitrary, { seed, numRuns: 500 });
  let at = 0;
  return () => all[at++ % all.length] as T;
}

async function journalOf(store: Store, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, n) => ({
    category: 'work' as const,
    kind: 'thing.done',
    actor: 'tester',
    subject: `s${n}`,
    payload: { n, text: 'ü\u2028' },
  }));
  await store.append(W, events);
}

/** Adds a large number of events without computing their hashes, which would take too long. Only their numbers are correct. */
export async function unchainedJournal(store: Store, count: number): Promise<void> {
  await store.engine.transaction(W, async (db) => {
    await db.insertInto('workspaces').values({ id: W, name: 'moving', created_at: 1 }).execute();
    await sql`
      with recursive numbered(n) as (select 1 union all select n + 1 from numbered where n < ${sql.lit(count)})
      insert into events (workspace_id, seq, category, kind, actor, payload, time, hash)
      select ${sql.lit(W)}, n, 'work', 'thing.done', 'tester', '{}', n, 'none' from numbered`.execute(db);
  });
}

/** Creates the state after an interrupted prune, in which the anchor is set but two events before it still exist. */
async function cutAt(store: Store, seq: number): Promise<void> {
  const [last] = await readEvents(store.reader, W, seq - 1, 1);
  if (!last) throw new Error(`there is no event ${seq}`);
  await store.engine.transaction(W, async (db) => {
    await db.insertInto('journal_anchors').values({ workspace_id: W, seq, hash: last.hash, time: last.time }).execute();
    await db
      .deleteFrom('events')
      .where('workspace_id', '=', W)
      .where('seq', '<=', seq - 2)
      .execute();
  });
  await store.append(W, [{ category: 'audit', kind: PRUNED, actor: 'tester', subject: 'journal', payload: { through_seq: seq, root: last.hash } }]);
}

export interface TestExport extends ExportResult {
  readonly path: string;
  readonly text: string;
  /** The lines of the export, including their newlines. */
  readonly lines: string[];
}

/** Exports a workspace through a separate connection, as the command does. */
export async function exported(place: Place, options: Partial<ExportOptions> = {}): Promise<TestExport> {
  const engine = await openAsItIs(place.database);
  const path = join(temporaryFolder(), 'export.jsonl');
  writeFileSync(path, '');
  const write = async (lines: string) => writeFileSync(path, lines, { flag: 'a' });
  try {
    const made = await exportWorkspace(engine, { workspace: W, version: '1.2.3', now: 1_000, unverified: false, write, ...options });
    const text = readFileSync(path, 'utf8');
    return { ...made, path, text, lines: text.match(/[^\n]*\n/g) ?? [] };
  } finally {
    await engine.close();
  }
}

export function fileOf(content: string | Uint8Array): string {
  const path = join(temporaryFolder(), 'given.jsonl');
  writeFileSync(path, content);
  return path;
}

/** Returns an export with additional rows and a correct digest. Anyone who can write a file can create such an export. */
export function forgedExport(text: string, more: readonly { table: TableLayout['name']; row: TransferRow }[]): string {
  const lines = text.trimEnd().split('\n');
  const { rows, journal } = JSON.parse(lines.pop() as string) as { rows: Record<string, number>; journal: object };
  const { workspace } = JSON.parse(lines[0] as string) as { workspace: { id: string } };
  const position = (line: string) => TABLES.findIndex(({ name }) => line.startsWith(`{"table":"${name}"`));
  for (const { table, row } of more) {
    const layout = TABLES.find(({ name }) => name === table) as TableLayout;
    const blank = [...layout.columns].map(([column, { type, nullable }]) => [column, nullable ? null : type === 'text' ? '' : 0] as const);
    const full = { ...Object.fromEntries(blank), [layout.owner]: workspace.id, ...row };
    const after = lines.findLastIndex((line, index) => index === 0 || position(line) <= TABLES.indexOf(layout));
    lines.splice(after + 1, 0, writeRow(layout, full).trimEnd());
    rows[table] = (rows[table] ?? 0) + 1;
  }
  const body = `${lines.join('\n')}\n`;
  return `${body}${JSON.stringify({ kind: 'end', rows, journal, sha256: hash('sha256', body) })}\n`;
}
