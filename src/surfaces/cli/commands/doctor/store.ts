import { existsSync } from 'node:fs';
import { clockFrom } from '../../../../kernel/clock.ts';
import type { PostgresFacts, PostgresRefusal } from '../../../../storage/inspect-postgres.ts';
import { type AnswerTo, call } from '../../call.ts';
import { expiresIn } from '../status-text.ts';
import { check, type DoctorFinding, errorText, type Say } from './check.ts';

/** The number of free connections that a server needs when it starts, and the number that a running server may still need. */
const CONNECTIONS = 21;
const FEW = 5;
const SKEW_MS = 2_000;
const OLDEST = 15;

export const database = check('database', ['DATABASE_DAMAGED', 'SCHEMA_MISMATCH', 'STORE_BUSY'], async (say, { config, isThorough }) => {
  if (!config) return say.skipped('the database is not checked while the configuration is invalid');
  if (config.database_url) return say.skipped('the data is in PostgreSQL');
  const path = config.database_path;
  if (!existsSync(path)) return say.skipped(`${path} does not exist yet`);
  const { inspectDatabaseFile, isWriteLocked } = await import('../../../../storage/inspect.ts');
  const { trouble, message } = inspectDatabaseFile(path, isThorough ? 'whole' : 'quick');
  if (trouble === 'newer')
    return say.failed('SCHEMA_MISMATCH', `${path}: ${message}`, 'start the newer covenant, or restore a backup of this version: covenant restore FILE');
  if (trouble === 'obsolete') return say.failed('SCHEMA_MISMATCH', `${path}: ${message}`, 'start covenant at commit c09f4ba with this database once');
  if (trouble === 'busy' || ((trouble === undefined || trouble === 'older') && isWriteLocked(path)))
    return say.failed('STORE_BUSY', `another program keeps ${path} locked`, `find it and stop it: fuser ${path}`);
  if (trouble !== undefined && trouble !== 'older') return say.failed('DATABASE_DAMAGED', `${path}: ${message}`, 'restore a backup: covenant restore FILE');
  if (trouble === 'older') return say.skipped(`${path} is intact; ${message}`);
  return say.ok(`${path} is intact`);
});

const POSTGRES = [
  'POSTGRES_UNREACHABLE',
  'POSTGRES_REFUSED',
  'POSTGRES_TOO_OLD',
  'CONNECTIONS_LOW',
  'SCHEMA_MISMATCH',
  'SCHEMA_DAMAGED',
  'STORE_BUSY',
  'CLOCK_SKEW',
] as const;
type SayPostgres = Say<(typeof POSTGRES)[number]>;

export const postgres = check('postgres', POSTGRES, async (say, { config, server }) => {
  if (!config?.database_url) return say.skipped('the data is not in PostgreSQL');
  const { inspectPostgres } = await import('../../../../storage/inspect-postgres.ts');
  const facts = await inspectPostgres(config.database_url);
  return 'refused' in facts ? refusedBy(say, facts) : postgresFindings(say, facts, server ? FEW : CONNECTIONS);
});

function refusedBy(say: SayPostgres, { refused, reason }: PostgresRefusal): DoctorFinding {
  if (refused === 'unreachable') return say.failed('POSTGRES_UNREACHABLE', `PostgreSQL cannot be reached: ${reason}`, 'start it, or correct database_url');
  if (refused === 'full')
    return say.failed(
      'CONNECTIONS_LOW',
      'PostgreSQL accepts no more connections',
      'raise max_connections, or close connections: select * from pg_stat_activity',
    );
  return say.failed('POSTGRES_REFUSED', `PostgreSQL refused the connection: ${reason}`, 'correct the user, password and database in database_url');
}

/** `needed` is the number of connections that should be free. */
export function postgresFindings(say: SayPostgres, facts: PostgresFacts, needed: number): DoctorFinding[] {
  const version = Math.floor(facts.version / 10_000);
  if (version < OLDEST) return [say.failed('POSTGRES_TOO_OLD', `PostgreSQL ${version} is too old`, `upgrade it to ${OLDEST} or newer`)];
  const found = [];
  if (facts.mismatch !== null)
    found.push(
      say.failed(
        'SCHEMA_MISMATCH',
        facts.mismatch.message,
        facts.mismatch.why === 'obsolete'
          ? 'start covenant at commit c09f4ba with this database once'
          : facts.mismatch.why === 'newer'
            ? 'start the newer covenant, or restore a backup of this version with pg_restore'
            : 'set database_url to another database',
      ),
    );
  if (facts.missing.length > 0)
    found.push(
      say.failed(
        'SCHEMA_DAMAGED',
        `${facts.missing.length} parts of the schema are missing, for example ${facts.missing[0]}`,
        'stop every server and restore it with pg_restore. Before a server starts, run for each workspace: covenant audit anchor --after-restore --workspace NAME',
      ),
    );
  if (facts.connectionsLeft < needed)
    found.push(
      say.warning(
        'CONNECTIONS_LOW',
        `PostgreSQL has ${facts.connectionsLeft} free connections, and a server uses up to ${CONNECTIONS}`,
        'raise max_connections',
      ),
    );
  for (const { pid, seconds } of facts.holders) {
    const message = `PostgreSQL process ${pid} has blocked other processes for ${seconds} s`;
    found.push(say.failed('STORE_BUSY', message, `stop the server that the process belongs to, or run: select pg_terminate_backend(${pid})`));
  }
  if (Math.abs(facts.aheadMs) > SKEW_MS) {
    const apart = `${Math.round(Math.abs(facts.aheadMs) / 1000)} s ${facts.aheadMs > 0 ? 'ahead of' : 'behind'}`;
    const message = `the clock of this machine is ${apart} the clock of the database, so leases end too early or too late if several servers share the database`;
    found.push(say.warning('CLOCK_SKEW', message, 'synchronize both clocks: timedatectl set-ntp true'));
  }
  if (facts.pending > 0) found.push(say.skipped(`PostgreSQL answers; the next start applies ${facts.pending} migrations`));
  return found.length > 0 ? found : [say.ok(`PostgreSQL ${version} answers, ${facts.connectionsLeft} free connections`)];
}

/** The number of events that doctor verifies without --verbose. Verifying 100,000 events takes about a second. */
const LAST = 10_000;

export const journal = check('journal', ['JOURNAL_BROKEN'], async (say, { invocation, isThorough }) => {
  const { head, anchor } = await call(invocation, 'events.list', { latest: 1 });
  let from: Partial<{ after: number; previous: string }> = {};
  if (!isThorough && head.seq - anchor.seq > LAST) {
    const [begin] = (await call(invocation, 'events.list', { after: head.seq - LAST - 1, limit: 1 })).items;
    if (begin) from = { after: begin.seq, previous: begin.hash };
  }
  const begun = from.after ?? anchor.seq;
  for (;;) {
    const page: AnswerTo<'events.verify'> = await call(invocation, 'events.verify', { ...from, limit: 10_000 });
    if (page.first_break)
      return say.failed(
        'JOURNAL_BROKEN',
        `the chain breaks at event ${page.first_break.seq}: ${page.first_break.reason}`,
        'run `covenant backup`, then compare the journal with your last anchor: `covenant audit verify --anchor FILE`',
      );
    if (page.done) return say.ok(`events ${begun + 1} to ${page.verified_to}, chain intact`);
    from = { after: page.verified_to, previous: page.root };
  }
});

/** Checks that the clock was not set back, because leases, deadlines and the order of events depend on the clock. */
export const clock = check('clock', ['CLOCK_BEHIND'], async (say, { invocation, env }) => {
  const { last_event_at } = await call(invocation, 'server.status');
  // Reads the clock now and not when doctor starts. The checks themselves add events, and on a busy machine these can be seconds newer than the start.
  const behind = last_event_at === null ? 0 : last_event_at - clockFrom(env).now();
  return behind > SKEW_MS
    ? say.warning(
        'CLOCK_BEHIND',
        `the newest event is ${Math.round(behind / 1000)} s in the future: the clock was set back`,
        'set the clock: timedatectl set-ntp true',
      )
    : say.ok('the clock is not behind the newest event');
});

/** Reports tokens that expire soon, because an agent with an expired token stops and its developer may not notice. */
export const tokens = check('tokens', ['TOKEN_EXPIRING'], async (say, { invocation, env }) => {
  const { items } = await call(invocation, 'tokens.list', { expiring: true });
  if (items.length === 0) return say.ok('no agent token expires within 7 days');
  const now = clockFrom(env).now();
  return items.map(({ token_id, label, developer, expires_at }) =>
    say.warning('TOKEN_EXPIRING', `${label} of ${developer} ${expiresIn(expires_at ?? now, now)}`, `covenant tokens rotate ${token_id}`),
  );
});

/** Checks whether the server accepts the operator's token. */
export const credentials = check('credentials', ['UNAUTHENTICATED'], async (say, { invocation, server }) => {
  try {
    await call(invocation, 'server.status');
    return say.ok('the server accepts the token of the operator');
  } catch (error) {
    if (server) return say.failed('UNAUTHENTICATED', errorText(error), 'stop the server, then run covenant up: it writes a new token');
    throw error;
  }
});
