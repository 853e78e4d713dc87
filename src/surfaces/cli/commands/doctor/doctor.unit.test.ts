import { chmodSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../../../kernel/ids.ts';
import { testApp } from '../../../../testing/app.ts';
import { temporaryFolder } from '../../../../testing/store/database.ts';
import { type Client, connectClient } from '../../client.ts';
import type { CommandResult, Invocation } from '../../command.ts';
import { prepareHome, writeRunFile } from '../../home.ts';
import { createOutput } from '../../output.ts';
import { check, type DoctorFinding, doctorContext, runCheck } from './check.ts';
import { doctorCommand } from './doctor.ts';
import { postgres, postgresFindings } from './store.ts';

const DAY_MS = 24 * 3_600_000;
const OUT = createOutput({}, process.stdout, process.stderr);

function invocationAt(home: string, more: NodeJS.ProcessEnv = {}): Invocation {
  const env = { PATH: process.env.PATH, NODE_ENV: 'test', COVENANT_HOME: home, ...more };
  let client: Promise<Client> | undefined;
  onTestFinished(async () => await (await client?.catch(() => undefined))?.close());
  return { env, cwd: home, json: false, out: OUT, values: {}, positionals: [], client: () => (client ??= connectClient(env, undefined)) };
}

async function doctor(home: string, more: NodeJS.ProcessEnv = {}): Promise<DoctorFinding[]> {
  return (await doctorCommand.run(invocationAt(home, more)))?.json.items as DoctorFinding[];
}

const troubles = (findings: readonly DoctorFinding[]) => findings.filter(({ state }) => state === 'failed' || state === 'warning');
const codes = (findings: readonly DoctorFinding[]) => troubles(findings).map(({ code, state }) => `${code} ${state}`);

/** Creates a home with a database. Its server has already stopped. */
async function oldHome(): Promise<string> {
  const { database, app } = await testApp();
  await app.close();
  prepareHome(database.home);
  chmodSync(database.home, 0o700);
  const db = new DatabaseSync(database.path);
  // The app ran with a test clock, so this test sets the time of the migrations to the current time.
  db.prepare('update schema_migrations set applied_at = ?').run(Date.now());
  db.close();
  return database.home;
}

async function listening(answer: string): Promise<number> {
  const other = createServer((_request, response) => void response.end(answer)).listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  return (other.address() as AddressInfo).port;
}

test('reports nothing about an intact home except missing programs, each with a fix', async () => {
  const findings = await doctor(await oldHome(), { MCP_SERVER_PORT: '0' });
  expect(codes(findings).filter((code) => !/^(TMUX|GIT)_MISSING warning$/.test(code))).toEqual([]);
  for (const { fix } of troubles(findings)) expect(fix).toBeTruthy();
});

test('reports all wrong settings together, each with its line', async () => {
  const home = temporaryFolder();
  writeFileSync(
    join(home, 'config.toml'),
    'prot = 1\nport = 70000\n\n[approvals]\ndeadline_s = 1\n\n[launchers.mine]\ncommand = "x"\nargs = ["{{prompt}}"]\nfoo = 2\n',
  );
  const messages = troubles(await doctor(home)).map(({ message }) => message);
  for (const start of ['2: port: ', '5: approvals.deadline_s: ', '10: launchers.mine.foo: unknown setting', '1: prot: unknown setting'])
    expect(messages).toContainEqual(expect.stringContaining(`config.toml:${start}`));
  writeFileSync(join(home, 'config.toml'), 'port = \n');
  expect(troubles(await doctor(home))).toMatchObject([{ code: 'CONFIG_INVALID', message: expect.stringContaining('config.toml:1:') }]);
  writeFileSync(join(home, 'config.toml'), '');
  expect(troubles(await doctor(home, { MCP_SERVER_PORT: 'x' }))).toMatchObject([
    { code: 'CONFIG_INVALID', message: expect.stringContaining('MCP_SERVER_PORT') },
  ]);
});

test('reports files that others can read or write, with the command that fixes them', async () => {
  const home = await oldHome();
  chmodSync(join(home, 'covenant.db'), 0o644);
  chmodSync(join(home, 'secrets.toml'), 0o640);
  chmodSync(home, 0o777);
  const fixes = troubles(await doctor(home, { MCP_SERVER_PORT: '0' })).map(({ fix }) => fix);
  expect(fixes).toEqual(expect.arrayContaining([`chmod 700 ${home}`, `chmod 600 ${join(home, 'covenant.db')}`, `chmod 600 ${join(home, 'secrets.toml')}`]));
  rmSync(join(home, 'secrets.toml'));
  mkdirSync(join(home, 'secrets.toml'));
  const found = troubles(await doctor(home, { MCP_SERVER_PORT: '0' }));
  expect(found.find(({ code }) => code === 'SECRETS_INVALID')).toMatchObject({ fix: expect.stringContaining('a regular file') });
});

test('reports a locked, newer, foreign or damaged database, and skips the checks that would open it', async () => {
  const home = await oldHome();
  const path = join(home, 'covenant.db');
  const whole = readFileSync(path);
  const change = (statement: string) => {
    const db = new DatabaseSync(path);
    db.exec(statement);
    db.close();
  };
  const found = async () => codes((await doctor(home, { MCP_SERVER_PORT: '0' })).filter(({ check: id }) => id === 'database'));

  const holder = new DatabaseSync(path);
  holder.exec('begin immediate');
  expect(await found()).toEqual(['STORE_BUSY failed']);
  holder.exec('rollback');
  holder.close();
  expect(await found()).toEqual([]);

  change("insert into schema_migrations (number, name, applied_at) values (999, 'later', 0)");
  expect(await found()).toEqual(['SCHEMA_MISMATCH failed']);
  change('drop table schema_migrations');
  expect(await found()).toEqual(['DATABASE_DAMAGED failed']);
  writeFileSync(path, 'nothing that SQLite has ever written, in as many bytes as it looks at first: a hundred and some more.');
  expect(await found()).toEqual(['DATABASE_DAMAGED failed']);
  writeFileSync(path, whole.fill(0x55, 4096, 16_384));
  const damaged = await doctor(home, { MCP_SERVER_PORT: '0' });
  expect(codes(damaged)).toContain('DATABASE_DAMAGED failed');
  expect(damaged.find(({ check: id }) => id === 'journal')).toMatchObject({ state: 'skipped' });
});

test('reports a schema that is too old and does not change it', async () => {
  const home = await oldHome();
  const db = new DatabaseSync(join(home, 'covenant.db'));
  db.exec('update schema_migrations set number = number - 1');
  const rows = () => db.prepare('select * from schema_migrations').all();
  const before = rows();
  const findings = await doctor(home, { MCP_SERVER_PORT: '0' });
  expect(findings.find(({ check: id }) => id === 'database')).toMatchObject({ code: 'SCHEMA_MISMATCH', message: expect.stringContaining('c09f4ba') });
  expect(findings.find(({ check: id }) => id === 'credentials')).toMatchObject({ state: 'skipped' });
  expect(rows()).toEqual(before);
  db.close();
});

test('reports a changed event as a break in the chain of the journal, and reports a clock that was set back', async () => {
  const home = await oldHome();
  const clock = join(home, 'clock');
  const db = new DatabaseSync(join(home, 'covenant.db'));
  const { time } = db.prepare('select max(time) as time from events').get() as { time: number };
  writeFileSync(clock, String(time - 60_000));
  expect(codes(await doctor(home, { MCP_SERVER_PORT: '0', COVENANT_TEST_CLOCK: clock }))).toContain('CLOCK_BEHIND warning');
  db.exec("update events set actor = 'nobody' where seq = 1");
  db.close();
  expect(codes(await doctor(home, { MCP_SERVER_PORT: '0' }))).toContain('JOURNAL_BROKEN failed');
});

test('verifies only the end of a long journal, and the whole journal with --verbose', async () => {
  const { app, database } = await testApp();
  for (let n = 0; n < 11; n++)
    await app.store.append(
      DEFAULT_WORKSPACE_ID,
      Array.from({ length: 1_000 }, () => ({ category: 'audit', kind: 'filler', actor: 'x' })),
    );
  await app.close();
  prepareHome(database.home);
  const tamper = (seq: string) => {
    const db = new DatabaseSync(database.path);
    db.exec(`update events set actor = 'nobody' where seq = ${seq}`);
    db.close();
  };
  const found = async (verbose: boolean) => {
    const { json } = (await doctorCommand.run({ ...invocationAt(database.home, { MCP_SERVER_PORT: '0' }), values: { verbose } })) as CommandResult;
    return (json.items as DoctorFinding[]).filter(({ check: id }) => id === 'journal');
  };
  tamper('5');
  expect(await found(false)).toMatchObject([{ state: 'ok' }]);
  expect(await found(true)).toMatchObject([{ code: 'JOURNAL_BROKEN', message: expect.stringContaining('at event 5:') }]);
  tamper('10990');
  expect(await found(false)).toMatchObject([{ code: 'JOURNAL_BROKEN', message: expect.stringContaining('at event 10990:') }]);
});

test('compares the clock at the time of the check, so that a slow run of doctor does not report that the clock was set back', async () => {
  const home = await oldHome();
  const clock = join(home, 'clock');
  writeFileSync(clock, String(Date.now()));
  const asked = invocationAt(home, { MCP_SERVER_PORT: '0', COVENANT_TEST_CLOCK: clock });
  const later = () => {
    writeFileSync(clock, String(Date.now() + 10_000));
    return asked.client();
  };
  expect(codes((await doctorCommand.run({ ...asked, client: later }))?.json.items as DoctorFinding[])).not.toContain('CLOCK_BEHIND warning');
});

test('reports a missing or week-old backup, and unfinished files', async () => {
  const home = await oldHome();
  const clock = join(home, 'clock');
  const at = (days: number) => {
    writeFileSync(clock, String(Date.now() + days * DAY_MS));
    return doctor(home, { MCP_SERVER_PORT: '0', COVENANT_TEST_CLOCK: clock });
  };
  expect(codes(await at(1))).not.toContain('BACKUP_MISSING warning');
  expect(codes(await at(8))).toContain('BACKUP_MISSING warning');
  mkdirSync(join(home, 'backups'));
  // The old database that a restore keeps does not count as a backup.
  writeFileSync(join(home, 'backups', 'replaced-1.db'), '');
  expect(codes(await at(8))).toContain('BACKUP_MISSING warning');
  const copy = join(home, 'backups', 'covenant-1.db');
  writeFileSync(copy, '');
  expect(codes(await at(1))).not.toContain('BACKUP_OLD warning');
  expect(codes(await at(8))).toContain('BACKUP_OLD warning');

  const left = join(home, 'backups', 'x.jsonl.partial');
  writeFileSync(left, '');
  expect(codes(await at(0))).not.toContain('LEFTOVER_FILES warning');
  utimesSync(left, new Date(0), new Date(0));
  expect(troubles(await at(0))).toContainEqual(expect.objectContaining({ code: 'LEFTOVER_FILES', fix: `rm ${left}` }));
});

test('warns about a port in use, an unknown host name and an unreachable collector', async () => {
  const home = temporaryFolder();
  const port = await listening('something else');
  const found = await doctor(home, { MCP_SERVER_PORT: String(port), OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
  expect(codes(found)).toEqual(expect.arrayContaining(['PORT_IN_USE warning', 'OTLP_UNREACHABLE warning']));
  const there = await doctor(home, { MCP_SERVER_PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  expect(codes(there)).not.toContain('OTLP_UNREACHABLE warning');
  writeFileSync(
    join(home, 'config.toml'),
    'port = 0\nhost = "0.0.0.0"\nallowed_origins = ["https://covenant.example"]\n[machine]\nrepositories = ["/nowhere/at/all"]\n',
  );
  expect(codes(await doctor(home))).toEqual(expect.arrayContaining(['FOREIGN_HOST warning', 'FOREIGN_ORIGIN warning', 'REPOSITORIES_MISSING warning']));
});

test('reports a server of another version, an unhealthy server and a server that is gone with different codes', async () => {
  const home = temporaryFolder();
  const healthy = { instance: 'i', status: 'ok', version: '9.9.9', checks: { database: 'ok' } };
  const at = async (answer: object) => {
    writeRunFile(home, { url: `http://127.0.0.1:${await listening(JSON.stringify(answer))}`, instance: 'i', pid: process.pid });
    return (await doctor(home)).filter(({ check: id }) => id === 'server');
  };
  expect(codes(await at(healthy))).toEqual(['OTHER_VERSION warning']);
  expect(await at({ ...healthy, status: 'failing', checks: { database: 'unreachable' } })).toMatchObject([
    { code: 'SERVER_UNHEALTHY', message: expect.stringContaining('database unreachable') },
  ]);
  expect(codes(await at({ ...healthy, instance: 'another' }))).toEqual(['RUN_FILE_STALE warning']);
});

test('reports missing git and tmux', async () => {
  expect(codes(await doctor(temporaryFolder(), { PATH: '/nowhere', MCP_SERVER_PORT: '0' }))).toEqual(['GIT_MISSING warning', 'TMUX_MISSING warning']);
});

test('reports a check that throws an error as one line, without quoting the error', async () => {
  const broken = check('broken', [], () => {
    throw Object.assign(new Error('postgres://me:secret@host'), { code: 'EWHATEVER' });
  });
  const [finding] = await runCheck(broken, await doctorContext(invocationAt(temporaryFolder())));
  expect(finding).toMatchObject({ check: 'broken', state: 'warning', message: 'broken could not be checked: EWHATEVER' });
});

test('checks the version, clock, connections, schema and blocking sessions of PostgreSQL', async () => {
  const sound = { version: 180_001, connectionsLeft: 80, aheadMs: 300, holders: [], mismatch: null, pending: 0, missing: [] };
  const findings = async (facts: Partial<Parameters<typeof postgresFindings>[1]>) => {
    const codesOf = postgres.troubles as Parameters<typeof check<Parameters<Parameters<typeof postgresFindings>[0]['failed']>[0]>>[1];
    return await check('postgres', codesOf, (say) => postgresFindings(say, { ...sound, ...facts }, 21)).look(
      await doctorContext(invocationAt(temporaryFolder())),
    );
  };
  const judged = async (facts: Parameters<typeof findings>[0]) => codes(await findings(facts));
  expect(await judged({})).toEqual([]);
  expect(await judged({ version: 140_011 })).toEqual(['POSTGRES_TOO_OLD failed']);
  expect(await judged({ connectionsLeft: 20 })).toEqual(['CONNECTIONS_LOW warning']);
  expect(await judged({ aheadMs: -2_500 })).toEqual(['CLOCK_SKEW warning']);
  expect(await judged({ missing: ['tokens.id'] })).toEqual(['SCHEMA_DAMAGED failed']);
  for (const [why, fix] of [
    ['obsolete', 'c09f4ba'],
    ['newer', 'pg_restore'],
    ['foreign', 'database_url'],
  ] as const)
    expect(await findings({ mismatch: { why, message: 'it differs' } })).toMatchObject([{ code: 'SCHEMA_MISMATCH', fix: expect.stringContaining(fix) }]);
  expect(await judged({ holders: [{ pid: 7, seconds: 30 }] })).toEqual(['STORE_BUSY failed']);
});
