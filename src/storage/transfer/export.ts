import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import { type ChainBreak, ChainVerifier } from '../chain-verifier.ts';
import type { Db, Engine } from '../engine.ts';
import { SchemaMismatch } from '../errors.ts';
import { type ChainPoint, GENESIS, readAnchor, readHead, toEvent } from '../journal.ts';
import { inspectSchema, SCHEMA_VERSION } from '../migrate.ts';
import type { EventRow } from '../schema-rows.ts';
import { FORMAT, misfit, TABLES, type TableLayout, TransferRefused, type TransferRow, writeLine, writeRow } from './format.ts';

export interface ExportOptions {
  readonly workspace: string;
  /** Of the program, for whoever has to find one that reads the file. */
  readonly version: string;
  readonly now: number;
  /** Exports a journal whose chain is broken, and says so in the file. */
  readonly unverified: boolean;
  /** Awaited before the next rows are read. */
  write(lines: string): Promise<void>;
  onRows?(rows: number): void;
  readonly signal?: AbortSignal;
}

export interface Exported {
  readonly rows: Readonly<Record<string, number>>;
  readonly journal: ChainPoint;
  readonly firstBreak: ChainBreak | null;
}

/** Everything that a workspace holds, of one moment. */
export async function exportWorkspace(engine: Engine, options: ExportOptions): Promise<Exported> {
  return await inSnapshot(engine, (db) => writeSnapshot(engine, db, options));
}

async function writeSnapshot(engine: Engine, db: Db, options: ExportOptions): Promise<Exported> {
  const { workspace, version, now, unverified, signal } = options;
  const known = await db.selectFrom('workspaces').select(['id', 'name']).where('id', '=', workspace).executeTakeFirst();
  if (!known)
    throw new TransferRefused(
      'NOT_FOUND',
      `workspace: this database has no ${JSON.stringify(workspace.replace(/^ws_/, ''))}.`,
      'Name another with --workspace.',
    );
  const anchor = await readAnchor(db, workspace);
  const head = await readHead(db, workspace);
  const chain = new ChainVerifier(anchor);
  const sum = createHash('sha256');
  const put = async (lines: string) => {
    signal?.throwIfAborted();
    sum.update(lines);
    await options.write(lines);
  };

  await put(writeLine({ kind: 'covenant_export', format: FORMAT, schema: SCHEMA_VERSION, version, workspace: known, verified: !unverified, exported_at: now }));
  const rows: Record<string, number> = {};
  let written = 0;
  for (const table of TABLES) {
    rows[table.name] = 0;
    for await (const page of pagesOf(engine, db, table, workspace, anchor.seq)) {
      for (const row of page) refuseMisfit(table, row);
      if (table.name === 'events') for (const row of page) chain.add(toEvent(row as unknown as EventRow));
      if (!unverified) refuseBroken(chain.reached.firstBreak);
      await put(page.map((row) => writeRow(table, row)).join(''));
      rows[table.name] = (rows[table.name] ?? 0) + page.length;
      written += page.length;
      options.onRows?.(written);
    }
  }
  const { firstBreak } = chain.finish(head, anchor);
  if (!unverified) refuseBroken(firstBreak);
  const journal = { seq: head?.seq ?? 0, hash: head?.hash ?? GENESIS };
  await options.write(writeLine({ kind: 'end', rows, journal, sha256: sum.digest('hex') }));
  return { rows, journal, firstBreak };
}

function refuseBroken(firstBreak: ChainBreak | null): void {
  if (!firstBreak) return;
  throw new TransferRefused(
    'CHAIN_BROKEN',
    `The journal's chain breaks at event ${firstBreak.seq}: ${firstBreak.reason}.`,
    'covenant audit verify; with --unverified it is exported as it is, and the file says so.',
  );
}

function refuseMisfit(table: TableLayout, row: TransferRow): void {
  const reason = misfit(table, row);
  if (reason === undefined) return;
  const key = table.key.map((column) => `${column} ${row[column]}`).join(', ');
  throw new TransferRefused(
    'ROW_UNREADABLE',
    `${table.name} (${key}): ${reason}: no import would take it.`,
    'Correct that row in the database, or restore a backup.',
  );
}

/** Rows in memory at a time. */
export const PAGE = 500;

/** A sort of millions of rows, or a slow disk behind the file, takes longer than any call may. */
export const STATEMENT_TIMEOUT_MS = 3_600_000;

export interface DatabasePlace {
  /** `postgres://…`; without it SQLite at `path`. */
  readonly url: string | undefined;
  readonly path: string;
}

/** Opens what is there and changes nothing: a server of an older program may be at work on it. */
export async function openAsItIs({ url, path }: DatabasePlace): Promise<Engine> {
  if (!url && !existsSync(path))
    throw new TransferRefused('NOTHING_TO_EXPORT', `There is no database at ${path}.`, 'Set COVENANT_HOME to the home that has it.');
  const engine = url
    ? (await import('../postgres.ts')).openPostgres({ url, statementTimeoutMs: STATEMENT_TIMEOUT_MS })
    : (await import('../sqlite.ts')).openSqlite(path);
  try {
    const { current, pending } = await inspectSchema(engine);
    if (pending.length > 0)
      throw new SchemaMismatch(`the database has schema ${current} and this program ${SCHEMA_VERSION}: start the program once, which migrates it`);
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Everything that `read` sees is of one moment, while others go on writing. */
export async function inSnapshot<T>({ kind, reader }: Engine, read: (db: Db) => Promise<T>): Promise<T> {
  return await reader.connection().execute(async (db) => {
    await sql.raw(kind === 'postgres' ? 'begin isolation level repeatable read read only' : 'begin').execute(db);
    try {
      return await read(db);
    } finally {
      // Nothing was written; a connection that is gone has no transaction either.
      await sql`rollback`.execute(db).catch(() => {});
    }
  });
}

/** A table's rows of one workspace by the bytes of their key, which no collation of the database changes; of events those behind `after`. */
export async function* pagesOf({ kind }: Engine, db: Db, table: TableLayout, workspace: string, after: number): AsyncGenerator<TransferRow[]> {
  const { name, columns, key, owner } = table;
  // Tables are values here, and their rows are checked one by one.
  let query = (db as unknown as Kysely<Record<string, TransferRow>>)
    .selectFrom(name)
    .select([...columns.keys()])
    .where(owner, '=', workspace);
  if (name === 'events') query = query.where('seq', '>', after);
  for (const column of key) {
    const isText = kind === 'postgres' && columns.get(column)?.type === 'text';
    query = query.orderBy(isText ? sql`${sql.ref(column)} collate "C"` : sql.ref(column));
  }
  if (kind === 'sqlite') {
    yield* inPages(query.stream());
    return;
  }
  await sql`declare rows_to_export no scroll cursor for ${query}`.execute(db);
  for (;;) {
    const { rows } = await sql<TransferRow>`fetch ${sql.lit(PAGE)} from rows_to_export`.execute(db);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) break;
  }
  await sql`close rows_to_export`.execute(db);
}

async function* inPages(rows: AsyncIterable<TransferRow>): AsyncGenerator<TransferRow[]> {
  let page: TransferRow[] = [];
  for await (const row of rows) {
    page.push(row);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
