import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyDatabase } from './copy-database.ts';
import type { AccessReads, Db, Engine, EngineKind } from './engine.ts';
import { JournalFollowers, type JournalPage } from './follow.ts';
import type { NewEvent } from './journal.ts';
import { inspectSchema, type Migration, migrate, SCHEMA_VERSION } from './migrate.ts';
import { type WriteCallback, Writer } from './write.ts';

/** The time limit for one migration statement, which may have to change a large table, and for waiting while another server migrates the database. */
const MIGRATION_MS = 3_600_000;

export interface StoreOptions {
  /** The address of a PostgreSQL database (`postgres://…`). Without it, the SQLite file at `path` is used. */
  url?: string | undefined;
  path: string;
  now: () => number;
  statementTimeoutMs: number;
  /** Replaces the program's own migrations, in tests of the migration code. */
  migrations?: readonly Migration[];
}

export interface Store {
  readonly kind: EngineKind;
  readonly engine: Engine;
  readonly schemaVersion: number;
  /** The path of the copy that was made before the database was migrated. Undefined if it was not migrated. */
  readonly backup: string | undefined;
  readonly reader: Db;
  /** Reads the tables that every call is checked against. */
  readonly access: AccessReads;
  write<T>(workspace: string, callback: WriteCallback<T>, signal?: AbortSignal): Promise<T>;
  append(workspace: string, events: readonly NewEvent[]): Promise<number>;
  /** Yields all events with a number above `after`, in order, including events from other processes. Ends when `signal` aborts. */
  follow(workspace: string, after: number, signal: AbortSignal): AsyncGenerator<JournalPage>;
  close(): Promise<void>;
}

export async function openStore(options: StoreOptions): Promise<Store> {
  const { engine, backup } = options.url ? await openPostgresStore(options, options.url) : await openSqliteStore(options);
  const followed = new JournalFollowers(engine.reader);
  const closing = new AbortController();
  let closed: Promise<void> | undefined;
  const unsubscribe = engine.onForeignWrite(() => followed.ringAll());
  const writer = new Writer(engine, options.now, followed.ring.bind(followed));
  return {
    kind: engine.kind,
    engine,
    schemaVersion: SCHEMA_VERSION,
    backup,
    reader: engine.reader,
    access: engine.access,
    write: writer.write.bind(writer),
    append: writer.append.bind(writer),
    follow: (workspace, after, signal) => followed.follow(workspace, after, AbortSignal.any([signal, closing.signal])),
    close: () => (closed ??= close()),
  };

  async function close(): Promise<void> {
    await writer.close();
    unsubscribe();
    closing.abort();
    await engine.close();
  }
}

async function openSqliteStore({ path, now, migrations }: StoreOptions): Promise<{ engine: Engine; backup: string | undefined }> {
  // node:sqlite exists only in Node 22.13 and later. Because it is imported here and not at the top, an older Node can still report a clear error.
  const { openSqlite } = await import('./sqlite.ts');
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const existed = existsSync(path);
  const engine = openSqlite(path);
  try {
    const { current, pending } = await inspectSchema(engine, engine.reader, migrations);
    let backup: string | undefined;
    if (existed && current > 0 && pending.length > 0) {
      backup = join(dirname(path), 'backups', `before-schema-${pending.at(-1)?.number}-${now()}.db`);
      await copyDatabase(path, backup);
    }
    if (pending.length > 0) await migrate(engine, now, migrations);
    return { engine, backup };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function openPostgresStore({ now, statementTimeoutMs, migrations }: StoreOptions, url: string): Promise<{ engine: Engine; backup: undefined }> {
  const { openPostgres } = await import('./postgres.ts');
  const engine = openPostgres({ url, statementTimeoutMs });
  try {
    const { pending } = await inspectSchema(engine, engine.reader, migrations);
    if (pending.length > 0) await migratePatiently();
    return { engine, backup: undefined };
  } catch (error) {
    await engine.close();
    throw error;
  }

  async function migratePatiently(): Promise<void> {
    const patient = openPostgres({ url, statementTimeoutMs: MIGRATION_MS });
    try {
      await migrate(patient, now, migrations);
    } finally {
      await patient.close();
    }
  }
}
