import { createHash } from 'node:crypto';
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import pg from 'pg';
import type { AccessReads, Control, Db, Engine } from './engine.ts';
import { OutcomeUnknown, StoreBusy, StoreUnwritable } from './errors.ts';
import { PreparedNames } from './prepared-names.ts';
import type { Database } from './schema-rows.ts';

const CHANNEL = 'covenant_events';
const ATTEMPTS = 4;
const RELISTEN_MS = 1_000;
/** Readers also poll at this interval, because a notification can get lost when its connection breaks. */
const FOREIGN_POLL_MS = 2_000;
/** The size of each pool. Readers and writers have separate pools, so that neither waits for the other's connections. */
const POOL_SIZE = 10;
const GRACE_MS = 5_000;
const CONNECT_MS = 10_000;

export interface PostgresOptions {
  url: string;
  /** PostgreSQL cancels statements that run longer, so that a hung query cannot block the write queue of a workspace. */
  statementTimeoutMs: number;
}

export function openPostgres({ url, statementTimeoutMs }: PostgresOptions): Engine {
  const connection = {
    connectionString: url,
    statement_timeout: statementTimeoutMs,
    // If a process hangs or vanishes inside a transaction, its session keeps the workspace's lock. After this time PostgreSQL ends the session.
    idle_in_transaction_session_timeout: statementTimeoutMs + GRACE_MS,
    query_timeout: statementTimeoutMs + GRACE_MS,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: 'covenant',
    types: { getTypeParser: parserFor },
    // Send each statement without waiting for the answer to the previous one.
    pipeline: true,
  };
  const writers = openPool(connection);
  const readers = openPool(connection);
  const reader = new Kysely<Database>({ dialect: new PostgresDialect({ pool: forReads(readers) }) });
  const names = new PreparedNames();
  const foreign = foreignWrites(connection);

  return {
    kind: 'postgres',
    reader,
    typed,
    endsTransaction: (error) => isLost(error) || isDeadlock(error) || isOutdated(error),
    transaction: (workspace, work) => withRetry(() => transact(writers, names, workspace, work)),
    async appendEvents(tx, rows, head) {
      const column = (key: keyof (typeof rows)[number]) => rows.map((row) => row[key]);
      // One statement inserts the events, updates the head and notifies, because every writer in the queue waits for each round trip.
      await sql`
        with appended as (
          insert into events (workspace_id, seq, category, kind, actor, subject, session, payload, time, hash)
          select * from unnest(${column('workspace_id')}::text[], ${column('seq')}::bigint[], ${column('category')}::text[],
            ${column('kind')}::text[], ${column('actor')}::text[], ${column('subject')}::text[], ${column('session')}::text[],
            ${column('payload')}::text[], ${column('time')}::bigint[], ${column('hash')}::text[])
        ), moved as (
          insert into journal_heads (workspace_id, seq, hash) values (${head.workspace_id}, ${head.seq}, ${head.hash})
          on conflict (workspace_id) do update set seq = excluded.seq, hash = excluded.hash
        )
        select pg_notify(${CHANNEL}, ${head.workspace_id})`.execute(tx);
    },
    onForeignWrite: foreign.subscribe,
    access: new GatheredReads(),
    async lock(tx, resource) {
      await sql`select pg_advisory_xact_lock(${lockKey(resource)})`.execute(tx);
    },
    async hasTable(tx, name) {
      // `to_regclass` would be wrong here. It uses a cache, and a transaction that has waited for its lock does not refresh that cache.
      const { rows } = await sql`select 1 from pg_tables where schemaname = current_schema() and tablename = ${name}`.execute(tx);
      return rows.length > 0;
    },
    dumpSchema: () => dumpSchema(reader),
    async close() {
      await foreign.close();
      // The pools are ended directly, because Kysely ends its pool only if it has run a query.
      await Promise.all([writers.end(), readers.end()]);
    },
  };
}

function openPool(connection: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ ...connection, max: POOL_SIZE });
  // The pool emits an error if an idle client loses its connection. Ignoring it is safe, because the next query gets a new client.
  pool.on('error', () => {});
  // If a connection is lost, its query fails anyway. Without a listener, the additional error event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Parses bigint columns as numbers, as SQLite returns them. They contain times and counters far below 2^53. */
function parserFor(oid: number, format?: string): (text: string) => unknown {
  const INT8 = 20;
  if (oid === INT8) return Number;
  return pg.types.getTypeParser(oid, format as 'text');
}

class FailedAttempt extends Error {
  readonly committing: boolean;
  constructor(committing: boolean, cause: unknown) {
    super('transaction failed', { cause });
    this.committing = committing;
  }
}

/**
 * Shares one query among all callers that ask for the same `key` in the same turn of the event loop, and starts it after that turn. Results are not cached,
 * because another server may have just committed and its notification may not have arrived yet.
 */
class GatheredReads implements AccessReads {
  readonly #gathering = new Map<string, Promise<unknown>>();

  get<T>(key: string, load: () => Promise<T>): Promise<T> {
    const gathering = this.#gathering.get(key);
    if (gathering) return gathering as Promise<T>;
    const reading = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#gathering.delete(key);
      return load();
    });
    this.#gathering.set(key, reading);
    return reading;
  }
}

/**
 * The transaction uses READ COMMITTED and first takes the workspace's advisory lock. Servers therefore take turns, and each statement sees what the previous
 * holder of the lock committed. (With SERIALIZABLE, every concurrent append would have to retry.)
 */
async function transact<T>(pool: pg.Pool, names: PreparedNames, workspace: string, work: (tx: Db, control: Control) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let committing = false;
  // These two statements have no parameters, so they can be sent as one message. The first query follows without waiting for the answer.
  const begun = client.query(`begin isolation level read committed; select pg_advisory_xact_lock(${lockKey(workspace)})`);
  begun.catch(() => {});
  try {
    const running = new RunningTransaction(client, names, begun);
    const result = await work(running.db, running);
    await begun;
    committing = true;
    const { command } = await client.query('commit');
    if (command === 'ROLLBACK') throw running.failure() ?? new Error('the transaction was rolled back');
    return result;
  } catch (error) {
    // If the first statement failed, its error caused all later errors, so report that one.
    const first = await begun.then(
      () => error,
      (reason: unknown) => reason,
    );
    if (isOutdated(first)) names.forget();
    await client.query('rollback').catch(() => {});
    throw new FailedAttempt(committing, first);
  } finally {
    client.release();
  }
}

/** A transaction on its own connection. Unlike on a connection that Kysely reserves, a statement is sent before the previous one is answered. */
class RunningTransaction implements Control {
  readonly db: Db;
  readonly #client: pg.PoolClient;
  readonly #names: PreparedNames;
  readonly #begun: Promise<unknown>;
  #failure: unknown;

  constructor(client: pg.PoolClient, names: PreparedNames, begun: Promise<unknown>) {
    this.#client = client;
    this.#names = names;
    this.#begun = begun;
    const connection = { query: (text: string, parameters: unknown[]) => this.#query(text, parameters), release: () => {} } as unknown as PostgresPoolClient;
    this.db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: { options: {}, connect: async () => connection, end: async () => {} } }) });
  }

  async send(statement: string): Promise<void> {
    if (statement.startsWith('rollback to')) this.#failure = undefined;
    await this.#query(statement);
  }

  failure(): unknown {
    return this.#failure;
  }

  async #query(text: string, parameters?: unknown[]): Promise<pg.QueryResult> {
    try {
      const name = parameters?.length ? this.#names.of(text) : undefined;
      const answer = await this.#client.query(name === undefined ? { text, values: parameters } : { name, text, values: parameters });
      // The answer to `begin` has already arrived. If `begin` failed, this throws, so that no result is used that was read outside the transaction.
      await this.#begun;
      return answer;
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }
}

/** Converts a name to a lock number: the first 64 bits of its SHA-256, as a signed integer. */
export function lockKey(name: string): bigint {
  return createHash('sha256').update(name).digest().readBigInt64BE();
}

/** Retries only if nothing was committed: no connection was available, the connection was lost before the commit, or a deadlock occurred. */
async function withRetry<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const { committing, cause } = error instanceof FailedAttempt ? error : { committing: false, cause: error };
      if (committing && isLost(cause) && !isUnsent(cause)) {
        throw new OutcomeUnknown('the database connection was lost during the commit', { cause });
      }
      if (isTimeout(cause)) throw new StoreBusy('another server has locked this workspace too long', { cause });
      if (tries >= ATTEMPTS || !(isLost(cause) || isDeadlock(cause) || isFull(cause) || isOutdated(cause))) throw typed(cause);
      // After a deadlock the other transaction has continued, so retry immediately. In all other cases wait first.
      if (!isDeadlock(cause)) await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** tries));
    }
  }
}

/** A read tries several times to get a connection, like a write. If the connection is lost during the read, the read fails with a `StoreError`. */
function forReads(pool: pg.Pool): PostgresPool {
  const known = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  const wrap = (client: pg.PoolClient): PostgresPoolClient => {
    let isGone = false;
    const query = async (text: string, parameters: unknown[]) => {
      try {
        return await client.query(text, parameters);
      } catch (error) {
        isGone ||= isLost(error);
        throw typed(error);
      }
    };
    // The failed query reports the loss before the socket closes. Without this flag, the pool would give the lost connection to the next reader.
    return { query: query as unknown as PostgresPoolClient['query'], release: (destroy) => client.release(isGone || destroy) };
  };
  return {
    options: pool.options,
    end: async () => {},
    async connect() {
      const client = await withRetry(() => pool.connect());
      const reading = known.get(client) ?? wrap(client);
      known.set(client, reading);
      return reading;
    },
  };
}

/** Converts the error of an attempt that committed nothing. */
function typed(cause: unknown): unknown {
  if (isTimeout(cause)) return new StoreBusy('a statement exceeded its timeout', { cause });
  if (isFull(cause)) return new StoreBusy('the database accepts no more connections', { cause });
  if (isLost(cause)) return new StoreBusy('the database cannot be reached', { cause });
  if (sqlState(cause) === DISK_FULL) return new StoreUnwritable('the disk of the database is full', { cause });
  if (sqlState(cause) === READ_ONLY) return new StoreUnwritable('the database is read-only', { cause });
  return cause;
}

const DISK_FULL = '53100';
/** The database is read-only: it is a standby, or its host made it read-only because the disk is full. */
const READ_ONLY = '25006';
const sqlState = (error: unknown): string => (typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '');

const isDeadlock = (error: unknown): boolean => sqlState(error) === '40P01';
/** A prepared statement uses a table whose columns have changed since, because a newer version of the server has migrated the database. */
const isOutdated = (error: unknown): boolean => sqlState(error) === '0A000' && /cached plan/.test(messageOf(error));
const isFull = (error: unknown): boolean => sqlState(error) === '53300';
/** A statement, a lock or a connection attempt timed out. It is not retried, because a retry would take as long again. */
const isTimeout = (error: unknown): boolean =>
  ['57014', '55P03'].includes(sqlState(error)) || /timeout exceeded when trying to connect|due to connection timeout/.test(messageOf(error));
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');

/** The statement was not sent, because the connection was already lost. */
const isUnsent = (error: unknown): boolean => /is not queryable/.test(messageOf(error));

/** SQLSTATEs with which PostgreSQL ends or refuses a session, because it is starting or stopping or because the session was idle for too long. */
const ENDED = ['25P03', '25P04', '57P01', '57P02', '57P03', '57P05'];
const UNREACHABLE = ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'];

/** Class 08 and the codes in `ENDED` come from PostgreSQL. The other errors come from the network or from the `pg` package. */
function isLost(error: unknown): boolean {
  const state = sqlState(error);
  if (state.startsWith('08') || ENDED.includes(state) || UNREACHABLE.includes(state)) return true;
  return /connection (terminated|closed|ended)|client has encountered a connection error|query read timeout/i.test(messageOf(error));
}

/** Each process listens on one connection. It is opened for the first follower, and opened again if it breaks. */
function foreignWrites(connection: pg.ClientConfig) {
  const listeners = new Set<() => void>();
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  const wakeAll = () => {
    for (const listener of listeners) listener();
  };

  async function listen(): Promise<void> {
    if (closed || client) return;
    const fresh = new pg.Client(connection);
    client = fresh;
    const lost = () => {
      if (client !== fresh) return;
      client = undefined;
      // If only the `listen` statement failed, the connection is still open and must be closed.
      fresh.end().catch(() => {});
      if (!closed) retry = setTimeout(() => void listen(), RELISTEN_MS).unref();
    };
    fresh.on('error', lost);
    fresh.on('end', lost);
    fresh.on('notification', wakeAll);
    try {
      await fresh.connect();
      await fresh.query(`listen ${CHANNEL}`);
      wakeAll();
    } catch {
      lost();
    }
  }

  const poll = setInterval(wakeAll, FOREIGN_POLL_MS).unref();
  return {
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      void listen();
      return () => listeners.delete(listener);
    },
    async close(): Promise<void> {
      closed = true;
      clearInterval(poll);
      clearTimeout(retry);
      await client?.end().catch(() => {});
    },
  };
}

async function dumpSchema(db: Db): Promise<string> {
  const columns = await sql<{ line: string }>`
    select format('%s.%s %s%s%s', table_name, column_name, data_type,
      case when is_nullable = 'NO' then ' not null' else '' end, coalesce(' default ' || column_default, '')) as line
    from information_schema.columns where table_schema = current_schema() order by table_name, ordinal_position`.execute(db);
  const constraints = await sql<{ line: string }>`
    select format('%s: %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as line
    from pg_constraint where connamespace = current_schema()::regnamespace and contype <> 'n' order by 1`.execute(db);
  const indexes = await sql<{ line: string }>`
    select replace(indexdef, format('%I.', schemaname), '') as line from pg_indexes
    where schemaname = current_schema() order by indexname`.execute(db);
  return `${[...columns.rows, ...constraints.rows, ...indexes.rows].map((row) => row.line).join('\n')}\n`;
}
