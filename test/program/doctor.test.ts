import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { inspectPostgres } from '../../src/storage/inspect-postgres.ts';
import { MIGRATIONS } from '../../src/storage/migrations/index.ts';
import { lockKey } from '../../src/storage/postgres.ts';
import { covenant, type Environment, startProgram } from '../../src/testing/programs/program.ts';
import { administer, temporaryDatabase, temporaryFolder } from '../../src/testing/store/database.ts';

interface Found {
  check: string;
  state: string;
  code?: string;
  message: string;
  fix?: string;
}

async function doctor(at: Environment): Promise<{ code: number | null; found: Found[]; of(check: string): Found[] }> {
  const { code, json } = await covenant(at, 'doctor', '--json');
  const found = json.items as Found[];
  return { code, found, of: (check) => found.filter((item) => item.check === check) };
}

test('distinguishes a server that hangs from one that was killed', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  expect((await doctor(at)).of('server')).toMatchObject([{ state: 'ok' }]);
  server.child.kill('SIGSTOP');
  const hung = await doctor(at);
  expect(hung.code).toBe(1);
  expect(hung.of('server')).toMatchObject([{ code: 'SERVER_HUNG', fix: expect.stringContaining(`kill ${server.child.pid}`) }]);
  server.child.kill('SIGCONT');
  await server.stop('SIGKILL');
  const gone = await doctor(at);
  expect(gone).toMatchObject({ code: 0 });
  expect(gone.of('server')).toMatchObject([{ code: 'RUN_FILE_STALE', state: 'warning' }]);
});

test('reports a host name that the running server has not read, a token that it does not know, and an external server that fails', async () => {
  const at = { home: temporaryFolder() };
  const secrets = join(at.home, 'secrets.toml');
  writeFileSync(secrets, '[[mcp.server]]\nname = "away"\ncommand = "/nowhere/at/all"\n', { mode: 0o600 });
  await startProgram(at);
  await expect.poll(async () => (await doctor(at)).of('servers')).toMatchObject([{ code: 'EXTERNAL_SERVER_FAILING', state: 'warning' }]);
  writeFileSync(join(at.home, 'config.toml'), 'allowed_hosts = ["covenant.example"]\n');
  expect((await doctor(at)).of('proxy')).toMatchObject([{ code: 'SETTINGS_NOT_READ', message: expect.stringContaining('covenant.example') }]);
  writeFileSync(join(at.home, 'credentials.json'), '{"token":"cov_op_nothing"}');
  chmodSync(join(at.home, 'credentials.json'), 0o600);
  const unknown = await doctor(at);
  expect(unknown.of('credentials')).toMatchObject([{ code: 'UNAUTHENTICATED', state: 'failed' }]);
  expect(unknown.of('journal')).toMatchObject([{ state: 'skipped' }]);
});

test('reports a PostgreSQL that is unreachable, refuses the connection, is newer or lacks a table, and never prints the password', async () => {
  const { url = '' } = await temporaryDatabase('postgres');
  const on = (address: string) => doctor({ home: temporaryFolder(), env: { DATABASE_URL: address } });
  expect((await on(url)).of('postgres')).toMatchObject([{ state: 'ok' }]);

  const away = new URL(url);
  away.port = '1';
  away.password = 'quite-secret';
  const unreachable = await on(String(away));
  expect(unreachable).toMatchObject({ code: 1 });
  expect(unreachable.of('postgres')).toMatchObject([{ code: 'POSTGRES_UNREACHABLE' }]);
  expect(JSON.stringify(unreachable.found)).not.toContain('quite-secret');
  expect(await inspectPostgres(`${url}_not_there`)).toEqual({ refused: 'denied', reason: 'the database does not exist' });

  const bare = await temporaryDatabase('postgres', { bare: true });
  expect(await inspectPostgres(bare.url as string)).toMatchObject({ mismatch: null, pending: MIGRATIONS.length, missing: [] });
  const [server, name] = [url.slice(0, url.lastIndexOf('/')), url.slice(url.lastIndexOf('/') + 1)];
  await administer(server, 'drop table client_runs', name);
  expect(await inspectPostgres(url)).toMatchObject({ mismatch: null, missing: expect.arrayContaining([expect.stringContaining('client_runs')]) });
  await administer(server, "insert into schema_migrations (number, name, applied_at) values (999, 'later', 0)", name);
  const newer = await on(url);
  expect(newer.of('postgres')).toMatchObject([{ code: 'SCHEMA_MISMATCH', message: expect.stringContaining('999') }]);
  expect(newer.of('journal')).toMatchObject([{ state: 'skipped' }]);
});

test('reports the database session that blocks writers of a workspace', async () => {
  const { url = '' } = await temporaryDatabase('postgres');
  const [holder, waiting] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  onTestFinished(() => Promise.all([holder.end(), waiting.end()]).then(() => {}));
  await holder.connect();
  await waiting.connect();
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
  await holder.query(`begin; select pg_advisory_xact_lock(${lockKey('w')})`);
  const turn = waiting.query(`begin; select pg_advisory_xact_lock(${lockKey('w')})`);
  await expect
    .poll(async () => {
      const facts = await inspectPostgres(url, 0);
      return 'holders' in facts ? facts.holders : facts;
    })
    .toMatchObject([{ pid: rows[0]?.pid }]);
  expect(await inspectPostgres(url)).toMatchObject({ holders: [] });
  await holder.query('rollback');
  await turn;
});
