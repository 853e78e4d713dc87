import { existsSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import type { Db, Engine } from '../engine.ts';
import { SchemaMismatch } from '../errors.ts';
import { inspectSchema, SCHEMA_VERSION } from '../migrate.ts';
import { TransferRefused } from './format.ts';
import type { TableLayout, TransferRow } from './layout.ts';

/** How many rows are in memory at a time. */
export const ROWS_PER_PAGE = 500;

/** The limit is long, because sorting millions of rows or writing them to a slow disk takes time. */
export const STATEMENT_TIMEOUT_MS = 3_600_000;

export interface DatabasePlace {
  /** The address of a PostgreSQL database (`postgres://…`). If undefined, the SQLite file at `path` is used. */
  readonly url: string | undefined;
  readonly path: string;
}

/** Opens the database without migrating it, because a server of an older version may be using it. */
export async function openAsItIs({ url, path }: DatabasePlace): Promise<Engine> {
  if (!url && !existsSync(path))
    throw new TransferRefused('NOTHING_TO_EXPORT', `No database exists at ${path}.`, 'Set COVENANT_HOME to the home that contains it, then run this again.');
  const engine = url
    ? (await import('../postgres.ts')).openPostgres({ url, statementTimeoutMs: STATEMENT_TIMEOUT_MS })
    : (await import('../sqlite.ts')).openSqlite(path);
  try {
    const { current, pending } = await inspectSchema(engine);
    if (pending.length > 0)
      throw new SchemaMismatch(
        'older',
        `the database has schema ${current}, but this program needs ${SCHEMA_VERSION}: start the server once with covenant up to migrate it`,
      );
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Runs `read` in a transaction that sees the data of one moment, even if other processes keep writing. */
export async function inSnapshot<T>({ kind, reader }: Engine, read: (db: Db) => Promise<T>): Promise<T> {
  return await reader.connection().execute(async (db) => {
    await sql.raw(kind === 'postgres' ? 'begin isolation level repeatable read read only' : 'begin').execute(db);
    try {
      return await read(db);
    } finally {
      // An error here does not matter: nothing was written, and if the connection was lost, the transaction ended with it.
      await sql`rollback`.execute(db).catch(() => {});
    }
  });
}

/**
 * Reads the rows that one workspace has in a table, page by page. They are sorted by the bytes of their keys, so that the database's collation has no
 * influence. Events are read only if their number is above `after`.
 */
export async function* pagesOf({ kind }: Engine, db: Db, table: TableLayout, workspace: string, after: number): AsyncGenerator<TransferRow[]> {
  const { name, columns, key, owner } = table;
  // The table is only known at run time, so the compiler cannot check its columns. The rows are validated one by one.
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
    const { rows } = await sql<TransferRow>`fetch ${sql.lit(ROWS_PER_PAGE)} from rows_to_export`.execute(db);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_PER_PAGE) break;
  }
  await sql`close rows_to_export`.execute(db);
}

async function* inPages(rows: AsyncIterable<TransferRow>): AsyncGenerator<TransferRow[]> {
  let page: TransferRow[] = [];
  for await (const row of rows) {
    page.push(row);
    if (page.length < ROWS_PER_PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
