import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { lockKey } from '../../src/storage/postgres.ts';
import { childProgram, processesWith } from '../../src/testing/programs/processes.ts';
import { covenant, direct, type Environment, startProgram } from '../../src/testing/programs/program.ts';
import { signInBy } from '../../src/testing/scenes/signin.ts';
import { temporaryDatabase, temporaryFolder } from '../../src/testing/store/database.ts';
import { until } from '../../src/testing/until.ts';

const operatorToken = (home: string) => (JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8')) as { token: string }).token;

interface Exported {
  seq: number;
  kind: string;
  payload: { arguments_sha256?: string; request_id?: string };
}

async function exported(at: Environment): Promise<Exported[]> {
  const { stdout } = await covenant(at, 'audit', 'export', '--json');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Exported);
}

/** Locks the default workspace, as a server does that hangs in the middle of a transaction. */
async function holdDefaultWorkspace(at: Environment): Promise<pg.Client> {
  const holder = new pg.Client({ connectionString: at.env?.DATABASE_URL });
  await holder.connect();
  await holder.query(`select pg_advisory_lock(${lockKey('ws_default')})`);
  return holder;
}

async function onPostgres(): Promise<Environment> {
  const { home, url } = await temporaryDatabase('postgres');
  return { home, env: { DATABASE_URL: String(url) } };
}

test('two servers on one PostgreSQL: seq stays gap-free with eight writers, and a follower of either misses nothing [audit.journal.gap-free] [config.env.database-url]', async () => {
  const first = await onPostgres();
  const second: Environment = { home: temporaryFolder(), env: first.env ?? {} };
  const servers = [await startProgram(first), await startProgram(second)];
  expect(existsSync(join(first.home, 'covenant.db'))).toBe(false);
  const { json } = await covenant(first, 'tokens', 'create', '--developer', 'ana', '--json');
  const token = String(json.token);
  const CALLS = 8 * 40;
  const followers = servers.map((server) => {
    const seen: Exported[] = [];
    const ws = new WebSocket(`${server.url.replace('http', 'ws')}/api/events?after=0`, { headers: { authorization: `Bearer ${token}` } });
    const done = new Promise<Exported[]>((resolve) => {
      ws.on('message', (data) => {
        seen.push(JSON.parse(String(data)) as Exported);
        if (seen.filter((event) => event.kind === 'clock').length === CALLS) resolve(seen);
      });
    });
    return done.finally(() => ws.terminate());
  });
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; i < 40; i++) expect((await direct((servers[writer % 2] as (typeof servers)[0]).url, token, 'clock')).status).toBe(200);
    }),
  );
  for (const seen of await Promise.all(followers)) expect(seen.map((event) => event.seq)).toEqual(seen.map((_, index) => index + 1));
  expect(await covenant(second, 'audit', 'verify')).toMatchObject({ code: 0 });
});

test('on SIGTERM the server answers calls in progress, closes sockets, exits with 0 within five seconds and leaves nothing behind [storage.shutdown.clean] [gateway.process.dies-with-server]', async () => {
  const at = { home: temporaryFolder() };
  const mark = randomUUID();
  const child = `command = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(childProgram('ignores-sigterm'))}]\nenv = { CHILD_TEST = "${mark}" }\n`;
  writeFileSync(join(at.home, 'secrets.toml'), `[[mcp.server]]\nname = "stubborn"\n${child}`, { mode: 0o600 });
  const server = await startProgram(at);
  await expect.poll(() => processesWith(mark).length, { timeout: 30_000 }).toBe(4);
  const token = operatorToken(at.home);
  const ws = new WebSocket(`${server.url.replace('http', 'ws')}/api/events`, { headers: { authorization: `Bearer ${token}` } });
  await new Promise((resolve) => ws.once('message', resolve));
  const wsClosed = new Promise<number>((resolve) => ws.once('close', resolve));
  // Open a connection and leave it idle, as clients do.
  const { hostname, port } = new URL(server.url);
  const idle = connect(Number(port), hostname);
  await new Promise((resolve) => idle.once('connect', resolve));
  const calls = Array.from({ length: 50 }, () => direct(server.url, token, 'clock'));
  await calls[0];
  const started = performance.now();
  const stopping = server.stop('SIGTERM');
  const settled = await Promise.allSettled(calls);
  expect(await stopping).toBe(0);
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(await wsClosed).toBe(1001);
  await expect.poll(() => processesWith(mark), { timeout: 5_000 }).toEqual([]);
  const answered = settled.filter((call) => call.status === 'fulfilled').length;
  expect(answered).toBeGreaterThan(0);
  expect(existsSync(join(at.home, 'server.json'))).toBe(false);
  const events = await exported(at);
  expect(events.filter((event) => event.kind === 'clock').length).toBeGreaterThanOrEqual(answered);
  const log = server
    .log()
    .split('\n')
    .filter((line) => line.includes('"level":"error"'));
  expect(log).toEqual([]);
});

test('on SIGTERM while the database does not answer, the server still exits with 0 and leaves nothing behind', async () => {
  const at = await onPostgres();
  const server = await startProgram(at);
  const token = operatorToken(at.home);
  const holder = await holdDefaultWorkspace(at);
  const stuck = direct(server.url, token, 'clock').catch(() => 'cut off');
  await until(async () => expect((await holder.query(`select 1 from pg_locks where locktype = 'advisory' and not granted`)).rowCount).toBe(1));
  const started = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - started).toBeLessThan(5_000);
  await stuck;
  await holder.end();
  expect(existsSync(join(at.home, 'server.json'))).toBe(false);
});

test('a start that fails half way exits with the reason and leaves nothing behind', async () => {
  const at = await onPostgres();
  await covenant(at, 'status');
  const holder = await holdDefaultWorkspace(at);
  const failed = await covenant({ ...at, env: { ...at.env, MCP_TOOL_TIMEOUT: '500' } }, 'up', '--port', '0', '--json');
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.stdout)).toMatchObject({ kind: 'error', message: expect.stringContaining('has locked') });
  await holder.end();
  expect(existsSync(join(at.home, 'server.json'))).toBe(false);
});

test('after kill -9 the CLI finds no server and works on the store, and a new server starts', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  await server.stop('SIGKILL');
  expect(existsSync(join(at.home, 'server.json'))).toBe(true);
  expect((await covenant(at, 'status')).stdout).toContain('No server is running');
  expect((await covenant(at, 'tools', 'call', 'clock')).code).toBe(0);
  const again = await startProgram(at);
  expect((await fetch(`${again.url}/api/health`)).status).toBe(200);
});

test('no token appears in the log or the journal, whatever happened to it [audit.journal.no-secrets]', async () => {
  const at = { home: temporaryFolder(), env: { MCP_LOG_LEVEL: 'debug' } };
  const server = await startProgram(at);
  const { json } = await covenant(at, 'tokens', 'create', '--developer', 'ana', '--json');
  const token = String(json.token);
  await direct(server.url, token, 'clock');
  await direct(server.url, token, 'echo', { text: token });
  await fetch(`${server.url}/api/mcp`, { method: 'POST', body: `{"tool":"clock","token":"${token}"`, headers: { authorization: `Bearer ${token}` } });
  await fetch(`${server.url}/${token}`);
  await fetch(`${server.url}/api/${token}`, { method: 'POST' });
  await fetch(`${server.url}/mcp/${token}`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' });
  await covenant(at, 'tokens', 'revoke', String(json.token_id));
  await direct(server.url, token, 'clock');
  const link = server.signinUrl.split('/signin/')[1] as string;
  await fetch(server.signinUrl);
  const { cookie, proof, ticketed } = await signInBy(server.signinUrl);
  const address = await ticketed('/api/events/export');
  expect((await fetch(server.url + address, { headers: { cookie } })).status).toBe(200);
  expect((await fetch(server.url + address, { headers: { cookie } })).status).toBe(401);
  const ticket = address.split('ticket=')[1] as string;
  const { stdout } = await covenant(at, 'audit', 'export', '--json');
  await server.stop();
  for (const secret of [token, link, cookie.split('=')[1] as string, proof, ticket, operatorToken(at.home)]) {
    expect(server.log()).not.toContain(secret);
    expect(stdout).not.toContain(secret);
    for (const file of ['covenant.db', 'covenant.db-wal']) {
      const path = join(at.home, file);
      if (existsSync(path)) expect(readFileSync(path).includes(secret)).toBe(false);
    }
  }
});

test('COVENANT_TEST_CLOCK changes the clock of the whole program, but only if NODE_ENV is test', async () => {
  const home = temporaryFolder();
  const file = join(home, 'clock');
  writeFileSync(file, '1800000000000');
  const time = async (at: Environment) => ((await covenant(at, 'tools', 'call', 'clock', '--json')).json.structuredContent as { epoch_ms: number }).epoch_ms;
  const at: Environment = { home, env: { COVENANT_TEST_CLOCK: file } };
  const server = await startProgram(at);
  expect(await time(at)).toBe(1_800_000_000_000);
  // A reader may see the file while it is only partly written, so try several times.
  for (let i = 0; i < 50; i++) {
    writeFileSync(file, '');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  writeFileSync(file, '1800000005000');
  expect(await time(at)).toBe(1_800_000_005_000);
  await server.stop();
  const real = await startProgram({ home, env: { COVENANT_TEST_CLOCK: file, NODE_ENV: 'production' } });
  const { body } = await direct(real.url, operatorToken(home), 'clock');
  expect(Math.abs((body.structuredContent as { epoch_ms: number }).epoch_ms - Date.now())).toBeLessThan(60_000);
});
