import { chmodSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement, sql } from 'kysely';
import { ACCESS_TABLES, type AccessReads, type Control, type Db, type Engine } from './engine.ts';
import { OutcomeUnknown, StoreBusy, StoreUnwritable } from './errors.ts';
import type { Database } from './schema-rows.ts';

/** The wait is synchronous. It must be long enough for a commit by another process, but too short to block the event loop noticeably. */
const BUSY_TIMEOUT_MS = 20;
const BUSY_GIVE_UP_MS = 10_000;
const FOREIGN_POLL_MS = 200;
const STATEMENT_CACHE = 256;
const INSERT_EVENT =
  'insert into events (workspace_id, seq, category, kind, actor, subject, session, payload, time, hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
const MOVE_HEAD =
  'insert into journal_heads (workspace_id, seq, hash) values (?, ?, ?) on conflict (workspace_id) do update set seq = excluded.seq, hash = excluded.hash';

export function openSqlite(path: string): Engine {
  const writerConnection = connect(path);
  writerConnection.exec('pragma journal_mode = wal');
  chmodSync(path, 0o600);
  const readerConnection = connect(path);
  readerConnection.exec('pragma query_only = on');
  const access = { touched: false, generation: 0 };
  const writer = new Kysely<Database>({ dialect: new SqliteDialect({ database: kyselyDatabase(writerConnection, () => (access.touched = true)) }) });
  const reader = new Kysely<Database>({ dialect: new SqliteDialect({ database: kyselyDatabase(readerConnection) }) });
  const inTurn = turnstile();
  // `failure` never reports an error, because SQLite undoes a failed statement and the transaction can continue.
  const control: Control = { send: async (statement) => writerConnection.exec(statement), failure: () => undefined };
  const polls = new Set<NodeJS.Timeout>();
  let statements: { insert: StatementSync; move: StatementSync } | undefined;
  let foreignVersion: unknown;
  const dataVersion = writerConnection.prepare('pragma data_version');
  /**
   * A value that changes with each commit to the access tables. It is computed once in each turn of the event loop, so that earlier commits by other
   * processes are always seen.
   */
  const accessStamp = () => {
    if (foreignVersion === undefined) {
      foreignVersion = dataVersion.get()?.data_version;
      setImmediate(() => {
        foreignVersion = undefined;
      });
    }
    return `${foreignVersion}:${access.generation}`;
  };

  return {
    kind: 'sqlite',
    reader,
    typed,
    endsTransaction: () => !writerConnection.isTransaction,
    transaction: (_workspace, work) =>
      inTurn(async () => {
        await beginImmediate(writerConnection);
        access.touched = false;
        try {
          const result = await work(writer, control);
          commit(writerConnection);
          if (access.touched) access.generation++;
          return result;
        } catch (error) {
          if (writerConnection.isTransaction) writerConnection.exec('rollback');
          throw typed(error);
        }
      }),
    async appendEvents(_db, rows, head) {
      statements ??= { insert: writerConnection.prepare(INSERT_EVENT), move: writerConnection.prepare(MOVE_HEAD) };
      for (const e of rows) statements.insert.run(e.workspace_id, e.seq, e.category, e.kind, e.actor, e.subject, e.session, e.payload, e.time, e.hash);
      statements.move.run(head.workspace_id, head.seq, head.hash);
    },
    onForeignWrite(listener) {
      // `data_version` counts the commits of all other connections. On the only writing connection of this process, these are the commits of other processes.
      // The poll takes microseconds.
      let last = dataVersion.get()?.data_version;
      const poll = setInterval(() => {
        const version = dataVersion.get()?.data_version;
        if (version === last) return;
        last = version;
        listener();
      }, FOREIGN_POLL_MS).unref();
      polls.add(poll);
      return () => {
        clearInterval(poll);
        polls.delete(poll);
      };
    },
    access: new AccessMemo(accessStamp),
    // No lock is needed, because SQLite allows only one writer at a time for the whole database.
    lock: async () => {},
    hasTable: async (db, name) => (await sql`select 1 from sqlite_master where type = 'table' and name = ${name}`.execute(db)).rows.length > 0,
    dumpSchema: () => dumpSchema(reader),
    async close() {
      for (const poll of polls) clearInterval(poll);
      await inTurn(async () => {
        readerConnection.close();
        writerConnection.close();
      });
    },
  };
}

const MAX_ENTRIES = 1_000;

/** Caches what was read from the access tables until their stamp changes. */
class AccessMemo implements AccessReads {
  readonly #currentStamp: () => string;
  readonly #entries = new Map<string, unknown>();
  #stamp: string | undefined;

  constructor(currentStamp: () => string) {
    this.#currentStamp = currentStamp;
  }

  async get<T>(key: string, load: () => Promise<T>): Promise<T> {
    const stamp = this.#currentStamp();
    if (stamp !== this.#stamp || this.#entries.size >= MAX_ENTRIES) {
      this.#entries.clear();
      this.#stamp = stamp;
    }
    if (this.#entries.has(key)) return this.#entries.get(key) as T;
    const value = await load();
    // The loaded value is at least as new as the stamp. If the stamp has changed in the meantime, the value is not cached.
    if (this.#stamp === stamp) this.#entries.set(key, value);
    return value;
  }
}

function connect(path: string): DatabaseSync {
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  connection.exec('pragma synchronous = full');
  // A checkpoint delays the commit that triggers it. With a limit of 4000 pages (16 MB), checkpoints are rare and the log stays small.
  connection.exec('pragma wal_autocheckpoint = 4000');
  return connection;
}

/** `begin immediate` takes the write lock at once. After a plain `begin`, the transaction could read and then fail at its first write. */
async function beginImmediate(connection: DatabaseSync): Promise<void> {
  const giveUp = performance.now() + BUSY_GIVE_UP_MS;
  for (let wait = 1; ; wait = Math.min(wait * 2, 50)) {
    try {
      connection.exec('begin immediate');
      return;
    } catch (error) {
      if (!isBusy(error)) throw typed(error);
      if (performance.now() > giveUp) {
        throw new StoreBusy('another process has locked the database for 10 seconds', { cause: error });
      }
      await pause(wait * (0.5 + Math.random()));
    }
  }
}

/** If the disk fails during the commit, the outcome is unknown: after a restart, the write may be in the log. */
function commit(connection: DatabaseSync): void {
  try {
    connection.exec('commit');
  } catch (error) {
    if (codeOf(error) === SQLITE_IOERR) throw new OutcomeUnknown('the disk failed during the commit', { cause: error });
    throw error;
  }
}

const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;

/** SQLite's primary result code, which is the low byte of the extended code. */
const codeOf = (error: unknown): number | undefined => (error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined);
const isBusy = (error: unknown): boolean => codeOf(error) === SQLITE_BUSY;

function typed(error: unknown): unknown {
  const isDisk = [SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN].includes(codeOf(error) ?? 0);
  return isDisk ? new StoreUnwritable('the database file cannot be written', { cause: error }) : error;
}

/** Adapts node:sqlite to the better-sqlite3 API that Kysely expects. The two take parameters differently. */
function kyselyDatabase(connection: DatabaseSync, onAccessChange = () => {}): SqliteDatabase {
  const cache = new Map<string, SqliteStatement>();
  return {
    close: () => connection.close(),
    prepare(text) {
      let statement = cache.get(text);
      if (!statement) {
        if (cache.size >= STATEMENT_CACHE) cache.clear();
        statement = kyselyStatement(connection.prepare(text));
        if (CHANGES_ACCESS.test(text)) statement = noticed(statement, onAccessChange);
        cache.set(text, statement);
      }
      return statement;
    },
  };
}

/**
 * Matches every statement that contains the name of an access table and does not begin with `select`. A false match only clears the cache, but a missed match
 * would let revoked access continue.
 */
const CHANGES_ACCESS = new RegExp(`^(?!\\s*select\\b)[^]*\\b(${ACCESS_TABLES.join('|')})\\b`, 'i');

function noticed(statement: SqliteStatement, notice: () => void): SqliteStatement {
  return {
    ...statement,
    all: (parameters) => {
      notice();
      return statement.all(parameters);
    },
    run: (parameters) => {
      notice();
      return statement.run(parameters);
    },
  };
}

function kyselyStatement(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])) as IterableIterator<unknown>,
  };
}

/** Runs one task at a time, in the order of arrival. */
function turnstile(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    last = result.catch(() => {});
    return result;
  };
}

async function dumpSchema(db: Db): Promise<string> {
  const { rows } = await sql<{ sql: string }>`
    select sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by type desc, name`.execute(db);
  return `${rows.map((row) => row.sql).join('\n')}\n`;
}
