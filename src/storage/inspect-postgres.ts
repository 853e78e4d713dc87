import pg from 'pg';
import { SchemaMismatch } from './errors.ts';
import { inspectSchema, missingFromSchema } from './migrate.ts';
import { openPostgres } from './postgres.ts';

const CONNECT_MS = 3_000;
const STATEMENT_MS = 5_000;

export interface PostgresFacts {
  /** PostgreSQL's `server_version_num`, such as 150004. */
  readonly version: number;
  readonly connectionsLeft: number;
  /** By how much this machine's clock is ahead of the database server's clock. */
  readonly aheadMs: number;
  /** Database sessions that have blocked one of our writers for longer than a write ever takes. */
  readonly holders: readonly { pid: number; seconds: number }[];
  /** Why this version cannot use the schema as it is, or null if it can. */
  readonly mismatch: Pick<SchemaMismatch, 'why' | 'message'> | null;
  /** The number of migrations that the next start would run. */
  readonly pending: number;
  /** Tables, columns, indexes and constraints of the newest schema that this database lacks. */
  readonly missing: readonly string[];
}

/** The reason never contains the database URL, because the URL contains a password. */
export interface PostgresRefusal {
  readonly refused: 'unreachable' | 'full' | 'denied';
  readonly reason: string;
}

/**
 * Collects the facts about the database that an operator needs, without changing anything. If a writer waits for longer than `heldMs`, the session that
 * blocks it is reported.
 */
export async function inspectPostgres(url: string, heldMs = 10_000): Promise<PostgresFacts | PostgresRefusal> {
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, statement_timeout: STATEMENT_MS, query_timeout: STATEMENT_MS });
    client.on('error', () => {});
    await client.connect();
  } catch (error) {
    return refusalOf(error);
  }
  try {
    const { rows } = await client.query<{ version: string; left: string }>(LOOK);
    const [{ version, left }] = rows as [{ version: string; left: string }];
    const aheadMs = await clockDifference(client);
    const holders = (await client.query<{ pid: number; seconds: string }>(HOLDERS, [heldMs])).rows.map(({ pid, seconds }) => ({
      pid,
      seconds: Number(seconds),
    }));
    return { version: Number(version), connectionsLeft: Number(left), aheadMs, holders, ...(await schemaOf(url)) };
  } finally {
    await client.end().catch(() => {});
  }
}

const LOOK = `select current_setting('server_version_num') as version,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - (select count(*) from pg_stat_activity where backend_type = 'client backend') as left`;

/** Each writer first waits for the advisory lock of its workspace. This query finds the sessions that have blocked a writer for too long. */
const HOLDERS = `select holder as pid, max(extract(epoch from clock_timestamp() - waiting.query_start))::int as seconds
  from pg_stat_activity as waiting, unnest(pg_blocking_pids(waiting.pid)) as holder
  where waiting.datname = current_database() and waiting.wait_event_type = 'Lock' and waiting.wait_event = 'advisory'
    and clock_timestamp() - waiting.query_start > $1 * interval '1 millisecond'
  group by holder`;

async function clockDifference(client: pg.Client): Promise<number> {
  const asked = Date.now();
  const { rows } = await client.query<{ ms: string }>('select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms');
  // The database read its clock at some moment between the two local times.
  return Math.round((asked + Date.now()) / 2 - Number(rows[0]?.ms));
}

async function schemaOf(url: string): Promise<Pick<PostgresFacts, 'mismatch' | 'pending' | 'missing'>> {
  const engine = openPostgres({ url, statementTimeoutMs: STATEMENT_MS });
  try {
    const { pending } = await inspectSchema(engine);
    return { mismatch: null, pending: pending.length, missing: pending.length > 0 ? [] : await missingFromSchema(engine) };
  } catch (error) {
    if (error instanceof SchemaMismatch) return { mismatch: error, pending: 0, missing: [] };
    throw error;
  } finally {
    await engine.close();
  }
}

const REASONS: Readonly<Record<string, PostgresRefusal>> = {
  '28P01': { refused: 'denied', reason: 'wrong password' },
  '28000': { refused: 'denied', reason: 'this user may not connect' },
  '3D000': { refused: 'denied', reason: 'the database does not exist' },
  '42501': { refused: 'denied', reason: 'this user lacks the rights' },
  '53300': { refused: 'full', reason: 'it accepts no more connections' },
  '57P03': { refused: 'unreachable', reason: 'it is starting or stopping' },
  ECONNREFUSED: { refused: 'unreachable', reason: 'no server listens there' },
  ENOTFOUND: { refused: 'unreachable', reason: 'its host name cannot be resolved' },
};

function refusalOf(error: unknown): PostgresRefusal {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? { refused: 'unreachable', reason: code === '' ? 'it does not answer like PostgreSQL' : code };
}
