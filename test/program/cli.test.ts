import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { covenant, covenantProcess, direct, ROOT, startProgram } from '../../src/testing/programs/program.ts';
import { postSignIn } from '../../src/testing/scenes/signin.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

/** If a server is running, the CLI sends HTTP requests to it. Otherwise it opens the store itself. Commands must do the same in both cases. */
const WAYS = ['with a server', 'without one'] as const;

async function place(way: (typeof WAYS)[number]) {
  const at = { home: temporaryFolder() };
  const server = way === 'with a server' ? await startProgram(at) : undefined;
  return { at, server, run: (...args: string[]) => covenant(at, ...args) };
}

test.each(WAYS)(
  'a grant allows a call until it is revoked (%s) [capability.cli.grant] [capability.cli.revoke] [capability.cli.list] [gateway.cli.tools-call]',
  async (way) => {
    const { run } = await place(way);
    const denied = await run('tools', 'call', 'echo', '--args', '{"text":"hi"}');
    expect(denied).toMatchObject({ code: 1, stdout: expect.stringContaining('covenant capabilities grant tool.call.echo') });
    expect(await run('capabilities', 'grant', 'tool.call.echo')).toMatchObject({ code: 0 });
    expect(await run('tools', 'call', 'echo', '--args', '{"text":"hi"}')).toMatchObject({ code: 0, stdout: 'hi\n' });
    const asJson = await run('tools', 'call', 'echo', '--args', '{"text":"hi"}', '--json');
    expect(asJson.json).toEqual({ kind: 'tool_result', content: [{ type: 'text', text: 'hi' }], structuredContent: { text: 'hi' }, isError: false });
    const list = await run('capabilities', 'list', '--json');
    expect(list.json).toMatchObject({ kind: 'capability_list', items: [{ action: 'tool.call.echo', subject: 'operator', status: 'live' }] });
    expect(await run('capabilities', 'revoke', 'tool.call.echo')).toMatchObject({ code: 0 });
    expect(await run('tools', 'call', 'echo', '--args', '{"text":"hi"}')).toMatchObject({ code: 1 });
    expect((await run('capabilities', 'list')).stdout).toMatch(/tool\.call\.echo .*revoked/);
  },
);

test('a call by the CLI has the same checks and events as one over /api/mcp [transport.pipe.same-everywhere]', async () => {
  const { at, server, run } = await place('with a server');
  const { token } = JSON.parse(readFileSync(join(at.home, 'credentials.json'), 'utf8')) as { token: string };
  const echoes = async () => {
    const { stdout } = await run('audit', 'export', '--json');
    const events = stdout.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
    const about = events.filter(({ kind, subject }) => kind === 'echo' || subject === 'tool:echo');
    return about.map(({ category, kind, actor, subject, payload }) => [category, kind, actor, subject, payload.outcome, payload.arguments_sha256]);
  };
  let told = 0;
  const traced = async (call: () => Promise<unknown>) => {
    await call();
    const traces = (await echoes()).slice(told);
    told += traces.length;
    return traces;
  };
  for (const grant of [false, true]) {
    if (grant) await run('capabilities', 'grant', 'tool.call.echo');
    const overApi = await traced(() => direct(server?.url ?? '', token, 'echo', { text: 'x' }));
    expect(overApi.length).toBeGreaterThan(0);
    expect(await traced(() => run('tools', 'call', 'echo', '--args', '{"text":"x"}'))).toEqual(overApi);
  }
});

test.each(WAYS)('the catalogue is one JSON object with a kind (%s) [gateway.cli.tools-list]', async (way) => {
  const { run } = await place(way);
  const { json, code } = await run('tools', 'list', '--json');
  expect(code).toBe(0);
  expect(json).toMatchObject({
    kind: 'tool_list',
    items: expect.arrayContaining([
      expect.objectContaining({ name: 'clock', you: 'open', inputSchema: expect.objectContaining({ type: 'object' }) }),
      expect.objectContaining({ name: 'echo', you: 'no', description: 'Return the given text unchanged.' }),
      expect.objectContaining({ name: 'covibe_task', you: 'no', toolset: 'team' }),
    ]),
  });
});

test.each(WAYS)(
  'tokens are created, listed without values, and revoked by the end of their id (%s) [auth.cli.tokens-create] [auth.cli.tokens-list] [auth.cli.tokens-revoke] [transport.cli.id-tail]',
  async (way) => {
    const { run, server } = await place(way);
    const { json: made } = await run('tokens', 'create', '--developer', 'ana', '--agent', 'codex', '--json');
    expect(made).toMatchObject({ kind: 'token_created', token: expect.stringMatching(/^cv_/), token_id: expect.any(String), developer_id: expect.any(String) });
    const list = await run('tokens', 'list', '--json');
    expect(list.json.items).toContainEqual(expect.objectContaining({ token_id: made.token_id, developer: 'ana', agent: 'codex', status: 'live' }));
    expect(list.stdout).not.toContain(String(made.token));
    if (server) expect((await direct(server.url, String(made.token), 'clock')).status).toBe(200);
    expect(await run('tokens', 'revoke', String(made.token_id).slice(-10))).toMatchObject({ code: 0 });
    if (server) expect((await direct(server.url, String(made.token), 'clock')).status).toBe(401);
  },
);

test.each(WAYS)('audit recent, verify, export and anchor work as typed (%s) [audit.recent.cli] [audit.verify.intact] [audit.export.anchor]', async (way) => {
  const { run } = await place(way);
  for (let i = 0; i < 3; i++) await run('tools', 'call', 'clock');
  const anchor = await run('audit', 'export', '--anchor', '--json');
  expect(anchor.json).toMatchObject({ kind: 'audit_anchor', seq: expect.any(Number), root: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const recent = await run('audit', 'recent', '--limit', '4', '--json');
  const [first, ...others] = (recent.json.items as { seq: number }[]).map(({ seq }) => seq) as [number, ...number[]];
  expect(others).toEqual([first + 1, first + 2, first + 3]);
  expect(first + 3).toBeGreaterThanOrEqual(Number(anchor.json.seq));
  const verify = await run('audit', 'verify', '--json');
  expect(verify).toMatchObject({ code: 0 });
  expect(verify.json).toMatchObject({ kind: 'audit_verified', valid: true, first_break: null, root: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const exported = (await run('audit', 'export', '--json')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(exported.map((event) => event.seq)).toEqual(exported.map((_, index) => index + 1));
  for (const event of exported)
    expect(Object.keys(event).sort()).toEqual(['actor', 'category', 'hash', 'kind', 'payload', 'seq', 'session', 'subject', 'time']);
  // The anchor must come after the three calls.
  expect(exported.findLastIndex((event) => event.kind === 'clock')).toBeLessThan(Number(anchor.json.seq));
  expect(exported[Number(anchor.json.seq) - 1]?.hash).toBe(anchor.json.root);
});

test('audit verify names the first break of a changed log and exits 1 [audit.verify.first-break]', async () => {
  const { at, run } = await place('without one');
  for (let i = 0; i < 3; i++) await run('tools', 'call', 'clock');
  const { DatabaseSync } = await import('node:sqlite');
  const db = new DatabaseSync(join(at.home, 'covenant.db'));
  db.exec(`update events set actor = 'nobody' where seq = 4`);
  db.close();
  const verify = await run('audit', 'verify', '--json');
  expect(verify.code).toBe(1);
  expect(verify.json).toMatchObject({ valid: false, events: 3, first_break: { seq: 4 } });
  expect((await run('audit', 'verify')).stdout).toContain('chain breaks at 4');
});

test.each(WAYS)('every command takes --json and prints one object with a kind (%s) [transport.cli.json]', async (way) => {
  const { at, run } = await place(way);
  // In this test each command is a separate process. Other tests call the same function inside their own process.
  const typed = way === 'without one' ? (...args: string[]) => covenantProcess(at, ...args) : run;
  for (const command of [
    ['status'],
    ['doctor'],
    ['tools', 'list'],
    ['tools', 'call', 'clock'],
    ['capabilities', 'list'],
    ['audit', 'recent'],
    ['audit', 'verify'],
    ['tokens', 'list'],
    ['servers', 'list'],
    ['workflow', 'list'],
    ['cycle', 'sessions'],
    ['instances', 'list'],
    ['backup'],
  ]) {
    const { stdout, code } = await typed(...command, '--json');
    expect([command, code]).toEqual([command, 0]);
    expect(JSON.parse(stdout)).toMatchObject({ kind: expect.stringMatching(/^[a-z_]+$/) });
    expect(stdout.trim().split('\n')).toHaveLength(1);
  }
});

test.each(WAYS)(
  'a command exits with 0 if done, 1 if refused or failed, 2 if called wrongly; with --json the error is an object (%s) [transport.cli.exit-codes] [transport.cli.json-error]',
  async (way) => {
    const { run } = await place(way);
    expect((await run('tools', 'call', 'clock')).code).toBe(0);
    for (const refused of [
      ['tools', 'call', 'echo', '--args', '{"text":"x"}'],
      ['tokens', 'revoke', 'nothing'],
      ['capabilities', 'revoke', 'tool.call.echo'],
      ['capabilities', 'grant', 'tool.call.*'],
    ]) {
      expect([refused, (await run(...refused)).code]).toEqual([refused, 1]);
    }
    for (const wrong of [
      ['nope'],
      ['tokens'],
      ['tools', 'call'],
      ['tools', 'call', 'a', 'b'],
      ['tokens', 'list', '--nope'],
      ['tools', 'call', 'echo', '--args', '{'],
      ['audit', 'recent', '--limit', 'x'],
      ['capabilities', 'grant', 'tool.call.echo', '--scope', '{'],
    ]) {
      expect([wrong, (await run(...wrong)).code]).toEqual([wrong, 2]);
    }
    const refusal = await run('tokens', 'revoke', 'nothing', '--json');
    expect(refusal.json).toEqual({ kind: 'error', code: 'TOKEN_NOT_FOUND', message: expect.any(String), next: expect.any(String) });
    expect((await run('nope', '--json')).json).toMatchObject({ kind: 'error', code: 'USAGE', next: 'covenant --help' });
    expect((await run('tokens', '--help')).stdout).toContain('create');
    expect((await run('doctor', '--workspace', 'beta')).code).toBe(2);
  },
);

test('covenant up --json reports when and where it serves; covenant open prints a link that works once, or the next step without a server [transport.cli.up-ready] [auth.dashboard.open-link]', async () => {
  const at = { home: temporaryFolder() };
  expect(await covenant(at, 'open')).toMatchObject({ code: 1, stderr: expect.stringContaining('covenant up') });
  const server = await startProgram(at);
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const link = (await covenant(at, 'open')).stdout.trim();
  const other = (await covenant(at, 'open')).stdout.trim();
  expect(link).not.toBe(other);
  expect((await postSignIn(link)).headers.get('set-cookie')).not.toBeNull();
  expect((await postSignIn(link)).headers.get('set-cookie')).toBeNull();
});

test('[dashboard.open.id] covenant open with an id, or with the end of an id, links to the page of that object', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  const { token } = (await covenant(at, 'tokens', 'create', '--developer', 'ana', '--agent', 'codex', '--json')).json as { token: string };
  const planned = await direct(server.url, token, 'covibe_task', { operation: 'plan', title: 'Open me', task_type: 'docs' });
  const { task_id } = (planned.body as { data: { task_id: string } }).data;
  const link = (await covenant(at, 'open', task_id.slice(-8))).stdout.trim();
  expect((await postSignIn(link)).headers.get('set-cookie')).toContain('HttpOnly');
  // `to` is the page that opens after the sign-in. Tests of the dashboard check that it opens.
  expect(new URL(link).searchParams.get('to')).toBe(`/tasks?task=${task_id}`);
  expect(await covenant(at, 'open', '4')).toMatchObject({ code: 0, stdout: expect.stringContaining('?to=%2Factivity%3Fevent%3D4') });
  expect(await covenant(at, 'open', 'task_nowhere')).toMatchObject({ code: 1, stderr: expect.stringContaining('task_nowhere') });
});

test('covenant connect prints a command with a new token that works', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  for (const client of ['claude-code', 'codex', 'gemini', 'cursor', 'opencode']) {
    const { stdout, code } = await covenant(at, 'connect', client);
    expect(code).toBe(0);
    expect(stdout).toContain(`${server.url}/mcp`);
    const token = /cv_[A-Za-z0-9_-]{43}/.exec(stdout)?.[0] as string;
    expect((await direct(server.url, token, 'clock')).status).toBe(200);
  }
  expect((await covenant(at, 'connect', 'codex', '--toolsets', 'team+workflow')).stdout).toContain('/mcp/team+workflow ');
  const tokens = async () => ((await covenant(at, 'tokens', 'list', '--json')).json.items as unknown[]).length;
  const before = await tokens();
  expect((await covenant(at, 'connect', 'codex', '--toolsets', 'team+games')).code).toBe(2);
  expect((await covenant(at, 'connect', 'emacs')).code).toBe(2);
  expect(await tokens()).toBe(before);
});

test('the home contains the data and only its owner can read it [config.home.default] [config.home.credentials-mode] [gateway.config.mode]', async () => {
  const at = { home: join(temporaryFolder(), 'made', 'for', 'it') };
  await startProgram(at);
  for (const file of ['covenant.db', 'config.toml', 'secrets.toml', 'credentials.json']) expect(existsSync(join(at.home, file))).toBe(true);
  for (const file of ['credentials.json', 'secrets.toml', 'covenant.db']) expect([file, statSync(join(at.home, file)).mode & 0o777]).toEqual([file, 0o600]);
  expect(statSync(at.home).mode & 0o777).toBe(0o700);
});

test('doctor finds faults and says how to fix them', async () => {
  const at = { home: temporaryFolder() };
  await covenant(at, 'status');
  expect(await covenant(at, 'doctor')).toMatchObject({ code: 0, stdout: expect.stringContaining('0 failed') });
  const { chmodSync } = await import('node:fs');
  chmodSync(join(at.home, 'credentials.json'), 0o644);
  writeFileSync(join(at.home, 'config.toml'), 'prot = 1\n');
  const { stdout, code } = await covenant(at, 'doctor');
  expect(code).toBe(1);
  expect(stdout).toContain(`chmod 600 ${join(at.home, 'credentials.json')}`);
  expect(stdout).toContain('prot: unknown setting');
});

test.each(WAYS)('backup copies the database, and restore replaces it and keeps the replaced one (%s) [storage.cli.backup-restore]', async (way) => {
  const { at, run, server } = await place(way);
  await run('tokens', 'create', '--developer', 'ana');
  const file = join(at.home, 'copy.db');
  expect(await run('backup', file)).toMatchObject({ code: 0 });
  expect((await run('backup', file)).code).toBe(1);
  await run('tokens', 'create', '--developer', 'ben');
  if (server) {
    expect(await run('restore', file)).toMatchObject({ code: 1, stderr: expect.stringContaining('Stop it') });
    await server.stop();
  }
  const restored = await run('restore', file, '--json');
  expect(restored.json).toMatchObject({ kind: 'restored', kept: expect.any(String) });
  const developers = async () => ((await run('tokens', 'list', '--json')).json.items as { developer: string }[]).map((item) => item.developer);
  expect(await developers()).toContain('ana');
  expect(await developers()).not.toContain('ben');
  expect((await run('audit', 'verify')).code).toBe(0);
  writeFileSync(join(at.home, 'junk.db'), 'not a database at all, but long enough to be looked at by SQLite itself');
  expect(await run('restore', join(at.home, 'junk.db'))).toMatchObject({ code: 1 });
  expect(await developers()).toContain('ana');
});

test('a database that restore replaced can be restored, even if a killed server left its log', async () => {
  const at = { home: temporaryFolder() };
  const run = (...args: string[]) => covenant(at, ...args);
  const server = await startProgram(at);
  const backup = join(at.home, 'early.db');
  await run('backup', backup);
  await run('tokens', 'create', '--developer', 'late');
  await server.stop('SIGKILL');
  const { json } = await run('restore', backup, '--json');
  expect((await run('tokens', 'list')).stdout).not.toContain('late');
  expect((await run('restore', String(json.kept))).code).toBe(0);
  expect((await run('tokens', 'list')).stdout).toContain('late');
});

test('restore never changes a database that another program has open', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  const backup = join(at.home, 'copy.db');
  await covenant(at, 'backup', backup);
  server.child.kill('SIGSTOP');
  expect(await covenant(at, 'restore', backup)).toMatchObject({ code: 1, stderr: expect.stringContaining('Stop it') });
  const elsewhere = { home: temporaryFolder(), env: { MCP_DATABASE_PATH: join(at.home, 'covenant.db') } };
  expect(await covenant(elsewhere, 'restore', backup)).toMatchObject({ code: 1, stderr: expect.stringContaining('has it open') });
  server.child.kill('SIGCONT');
  expect((await covenant(at, 'tokens', 'create', '--developer', 'kept')).code).toBe(0);
  await server.stop();
  expect((await covenant(at, 'tokens', 'list')).stdout).toContain('kept');
});

test('a reader that closes the pipe causes no error', async () => {
  const at = { home: temporaryFolder() };
  for (let i = 0; i < 3; i++) await covenant(at, 'tools', 'call', 'clock');
  const child = spawn(process.execPath, [join(ROOT, 'dist/bin/covenant.js'), 'audit', 'export'], {
    env: { ...process.env, COVENANT_HOME: at.home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  await once(child, 'close');
  expect(stderr).toBe('');
});

test('MCP_LOG_LEVEL sets the log level, and MCP_DATABASE_PATH the place of the data [config.env.log-level] [config.env.database-path]', async () => {
  const home = temporaryFolder();
  const path = join(home, 'elsewhere', 'data.db');
  const quiet = await startProgram({ home, env: { MCP_LOG_LEVEL: 'error', MCP_DATABASE_PATH: path } });
  expect(existsSync(path)).toBe(true);
  expect(existsSync(join(home, 'covenant.db'))).toBe(false);
  await fetch(`${quiet.url}/mcp`, { method: 'POST', headers: { authorization: 'Bearer x' }, body: '{' });
  await quiet.stop();
  expect(quiet.log()).toBe('');
  const loud = await startProgram({ home, env: { MCP_LOG_LEVEL: 'debug', MCP_DATABASE_PATH: path } });
  const { token } = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8')) as { token: string };
  await fetch(`${loud.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}',
  });
  await loud.stop();
  expect(loud.log()).toContain('"level":"debug"');
});

test('a wrong setting stops the program at the start, and the error names the setting', async () => {
  const home = join(temporaryFolder(), 'never-made');
  const { code, stdout } = await covenant({ home, env: { MCP_SERVER_PORT: 'many' } }, 'up', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'error', code: 'CONFIG_INVALID', message: expect.stringContaining('MCP_SERVER_PORT') });
  expect(existsSync(home)).toBe(false);
});

test('refuses to start a second server for the same home, or on a port that is in use, and reports the address or the port', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  expect(await covenant(at, 'up')).toMatchObject({ code: 1, stderr: expect.stringContaining(server.url) });
  const port = new URL(server.url).port;
  expect(await covenant({ home: temporaryFolder() }, 'up', '--port', port)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Port ${port} is in use`),
  });
});

test('piped output has no escape bytes, and --workspace separates workspaces', async () => {
  const at = { home: temporaryFolder() };
  for (const args of [['doctor', '--verbose'], ['tools', 'list'], ['--help'], ['tools', 'call', 'echo']]) {
    const { stdout, stderr } = await covenantProcess(at, ...args);
    expect(stdout + stderr).not.toContain('\u001b');
  }
  expect((await covenant(at, 'tokens', 'create', '--developer', 'zoe', '--workspace', 'beta')).code).toBe(0);
  expect((await covenant(at, 'tokens', 'list', '--json')).stdout).not.toContain('zoe');
  expect((await covenant(at, 'tokens', 'list', '--workspace', 'beta', '--json')).stdout).toContain('zoe');
  expect(await covenant(at, 'tokens', 'list', '--workspace', 'gamma')).toMatchObject({ code: 1 });
});
