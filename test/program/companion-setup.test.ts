import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { testApp } from '../../src/testing/app.ts';
import { repositoryWithThePackage, testMachine } from '../../src/testing/programs/companion.ts';
import { covenant, direct, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryRepository } from '../../src/testing/scenes/repository.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

async function served() {
  const t = await testApp();
  const server = await t.serve();
  const { url } = server;
  const agent = await t.developer('ana', 'claude-code');
  /** Approves the code as ana, who is signed in to the dashboard. */
  const approve = async (code: string) => {
    const ana = await t.signIn(url, 'ana');
    return (await ana.action('devices.approve', { code })).status;
  };
  return { ...t, server, url, token: agent.token, approve };
}

/** Returns all files below a folder, except those of git, with their contents and modification times. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => !path.startsWith('.git/') && statSync(join(folder, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, `${statSync(join(folder, path)).mtimeMs} ${readFileSync(join(folder, path), 'utf8')}`]));
}

const withoutTimes = (path: string) => Object.fromEntries(Object.entries(contents(path)).map(([name, text]) => [name, text.replace(/^\S+ /, '')]));

const both = (m: { home: string }, repo: { path: string }) => ({ home: contents(m.home), repo: contents(repo.path) });

test('setup requests missing or rejected tokens, writes what each agent reads and starts the watch service; doctor confirms everything [companion.setup.command] [companion.setup.service-default] [companion.doctor.command]', async () => {
  const s = await served();
  const m = testMachine();
  const repo = temporaryRepository();
  const credentials = join(m.home, '.covibe/credentials.json');
  mkdirSync(dirname(credentials));
  writeFileSync(credentials, JSON.stringify({ tokens: { cursor: s.token, codex: 'cv_revoked', 'claude-code': 'cv_ab cd' } }), { mode: 0o644 });
  const command = ['setup', '--base-url', s.url, '--agents', 'claude-code,codex,cursor'];
  const setup = m.start(repo.path, command);
  const [, code = '', page] = await setup.said(/^Code (\S+) {2}approve at (\S+)$/m);
  expect(page).toBe(`${s.url}/setup/authorize`);
  // Change a file while setup waits for the approval.
  repo.write('.mcp.json', '{ "mine": 1 }');
  expect(await s.approve(code)).toBe(200);
  const ran = await setup.ran;
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.stdout).toContain('✓ approved by ana, 2 tokens stored (0600)\n');
  expect(ran.stdout).toMatch(/^✓ claude-code {2}\.mcp\.json, \.claude\/settings\.json/m);
  expect(ran.stdout).toMatch(/^✓ watch service running$/m);
  expect(ran.stdout).toMatch(/\nnext: restart your agents, then run covibe-local doctor\n$/);

  expect(JSON.parse(readFileSync(join(repo.path, '.mcp.json'), 'utf8'))).toMatchObject({ mine: 1, mcpServers: { covibe: {} } });
  const { origin, tokens } = JSON.parse(readFileSync(credentials, 'utf8')) as { origin: string; tokens: Record<string, string> };
  expect([statSync(credentials).mode & 0o777, origin, Object.keys(tokens).toSorted()]).toEqual([0o600, s.url, ['claude-code', 'codex', 'cursor']]);
  expect([tokens.cursor, tokens.codex]).toEqual([s.token, expect.not.stringContaining('revoked')]);
  expect(m.systemctl()).toContain('--user enable --now covibe-watch.service');
  expect(readFileSync(join(m.home, '.config/systemd/user/covibe-watch.service'), 'utf8')).not.toContain('cv_');
  expect(JSON.parse(readFileSync(join(m.home, '.covibe/repos.json'), 'utf8'))).toMatchObject({ repos: [{ path: repo.path }] });

  // Setup must also restrict the access to tokens that exist already.
  chmodSync(credentials, 0o644);
  await m.run(repo.path, command);
  expect(statSync(credentials).mode & 0o777).toBe(0o600);

  const before = both(m, repo);
  const doctor = await m.run(repo.path, ['doctor']);
  expect(doctor).toMatchObject({ code: 0, stdout: expect.stringMatching(/^✓ server \d+ ms {2}✓ 3 tokens/) });
  expect(doctor.stdout).toMatch(/^✓ claude-code {2}/m);
  // A second run must not request or write anything.
  expect(await m.run(repo.path, command)).toMatchObject({ code: 0, stdout: expect.stringContaining('✓ server ready  ✓ 3 tokens accepted') });
  expect(both(m, repo)).toEqual(before);
});

test('with a token in the environment, setup and doctor report whether it is accepted, and write it nowhere [companion.setup.stores-no-raw-token] [companion.setup.reports-readiness] [companion.doctor.rewrites-nothing]', async () => {
  const s = await served();
  const m = testMachine();
  const repo = temporaryRepository();
  const env = { COVIBE_MCP_TOKEN: s.token };
  const setup = await m.run(repo.path, ['setup', '--base-url', s.url, '--agents', 'claude-code,codex,cursor,gemini,opencode'], env);
  expect(setup).toMatchObject({ code: 0, stdout: expect.stringContaining('✓ server ready  ✓ token accepted (COVIBE_MCP_TOKEN)') });
  expect(setup.stdout).toMatch(/^✓ claude-code +\.mcp\.json, \.claude\/settings\.json/m);
  expect(existsSync(join(m.home, '.covibe/credentials.json'))).toBe(false);

  const before = both(m, repo);
  const doctor = await m.run(repo.path, ['doctor', '--base-url', s.url], env);
  expect(doctor).toMatchObject({ code: 0, stdout: expect.stringMatching(/✓ server \d+ ms {2}✓ token accepted/) });
  expect(doctor.stdout.match(/^✓ (claude-code|codex|cursor|gemini|opencode) /gm)).toHaveLength(5);
  expect(doctor.stdout).toMatch(/^○ Codex runs these hooks only after you trust/m);
  expect(await m.run(repo.path, ['status', '--json'], env)).toMatchObject({ code: 0, json: { kind: 'doctor_report', failed: 0 } });
  expect(both(m, repo)).toEqual(before);
  expect(JSON.stringify(before)).not.toContain(s.token);
});

test('doctor distinguishes a faulty setup, with its fix, from an unreachable server', async () => {
  const s = await served();
  const m = testMachine();
  const repo = temporaryRepository();
  const env = { COVIBE_MCP_TOKEN: s.token };
  const doctor = async (code: number, said: RegExp, more: Record<string, string> = env) => {
    const ran = await m.run(repo.path, ['doctor', '--base-url', s.url], more);
    expect(ran).toMatchObject({ code, stdout: expect.stringMatching(said) });
  };
  await doctor(1, /^✗ the agents of this repository are not set up\n {4}fix: covibe-local setup --base-url /m);
  await m.run(repo.path, ['setup', '--base-url', s.url, '--agents', 'claude-code', '--no-service'], env);
  await doctor(1, /^✗ the HTTP hooks of Claude Code need COVIBE_MCP_TOKEN, which is not set in this shell\n {4}fix: /m, {});
  await s.done('settings.set', { key: 'hooks.fail_closed', value: 1 });
  await doctor(
    1,
    /^✗ hooks\.fail_closed is on in this workspace, and HTTP hooks cannot block edits while the server is unreachable\n {4}fix: covibe-local setup .*--hooks command$/m,
  );

  await m.run(repo.path, ['setup', '--base-url', s.url, '--agents', 'claude-code', '--no-service'], env);
  const credentials = join(m.home, '.covibe/credentials.json');
  writeFileSync(credentials, JSON.stringify({ origin: 'https://other.example', tokens: { 'claude-code': s.token } }), { mode: 0o600 });
  await doctor(1, /^✗ the stored tokens belong to another server: https:\/\/other\.example\n {4}fix: covibe-local setup/m, {});
  await doctor(1, /^✗ .* does not accept COVIBE_MCP_TOKEN\n {4}fix: /m, { COVIBE_MCP_TOKEN: 'cv_nobody' });

  writeFileSync(join(repo.path, '.claude/settings.json'), '{}');
  const { stdout } = await m.run(repo.path, ['doctor', '--base-url', s.url], env);
  const [, fix = ''] = /^✗ claude-code: SessionStart hook missing .*\n {4}fix: (.+)$/m.exec(stdout) ?? [];
  // Run the command that doctor recommends in a shell, exactly as it was printed.
  await promisify(execFile)('sh', ['-c', `${fix} --no-service`], { cwd: repo.path, env: { ...m.env, ...env } });
  await doctor(0, /^✓ claude-code {2}/m);

  await s.server.close(100);
  await doctor(0, /^○ server http:\/\/127\.0\.0\.1:\d+ is not reachable \(ECONNREFUSED\)/m);
  writeFileSync(join(repo.path, '.claude/settings.json'), '{}');
  await doctor(1, /^✗ claude-code: SessionStart hook missing .*\n {4}fix: /m);
});

test('--no-service installs no watch service, and prints the command that runs the loop [companion.setup.no-service]', async () => {
  const s = await served();
  const m = testMachine();
  const repo = temporaryRepository();
  const ran = await m.run(repo.path, ['setup', '--base-url', s.url, '--agents', 'codex', '--no-service'], { COVIBE_MCP_TOKEN: s.token });
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining(`covibe-local watch --base-url ${s.url}`) });
  expect([existsSync(join(m.home, '.config/systemd')), m.systemctl()]).toEqual([false, []]);

  const container = testMachine({ systemd: false });
  const without = await container.run(repo.path, ['setup', '--base-url', s.url, '--agents', 'codex'], { COVIBE_MCP_TOKEN: s.token });
  expect(without).toMatchObject({ code: 0, stdout: expect.stringContaining(`covibe-local watch --base-url ${s.url}`) });
});

const BAD_ORIGINS: [row: string, url: string, problem: string][] = [
  ['[companion.setup.rejects-credentials-in-url]', 'http://ana:secret@127.0.0.1:3001', 'contains a user name or password'],
  ['[companion.setup.rejects-callback-url]', 'http://127.0.0.1:3001/auth/callback', 'is a callback address'],
  ['[companion.setup.rejects-query-and-hash]', 'http://127.0.0.1:3001/?a=1', 'has a query'],
  ['[companion.setup.rejects-query-and-hash]', 'http://127.0.0.1:3001/#a', 'has a fragment'],
  ['[companion.setup.rejects-path]', 'http://127.0.0.1:3001/mcp', 'has a path'],
];

test.each(BAD_ORIGINS)('%s setup refuses %s, which %s, and writes nothing', async (_, url, problem) => {
  const m = testMachine();
  const repo = temporaryRepository();
  const before = both(m, repo);
  const ran = await m.run(repo.path, ['setup', '--base-url', url, '--agents', 'codex']);
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining(`--base-url ${problem}`) });
  expect(ran.stderr).not.toContain('secret');
  expect(both(m, repo)).toEqual(before);
});

test('setup reports every obstacle before anything is written', async () => {
  const s = await served();
  const m = testMachine();
  const repo = temporaryRepository();
  const before = both(m, repo);
  const refused = async (args: string[], code: number, said: string, env: Record<string, string> = {}, folder = repo.path) => {
    const ran = await m.run(folder, ['setup', ...args], env);
    expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(said)]);
    expect(ran.stderr).toContain('next: ');
  };
  const here = ['--base-url', s.url, '--agents', 'codex'];
  await refused(['--base-url', 'http://127.0.0.1:9', '--agents', 'codex'], 1, 'is not reachable');
  await refused(here, 1, 'does not accept COVIBE_MCP_TOKEN', { COVIBE_MCP_TOKEN: 'cv_nobody' });
  await refused(here, 1, 'COVIBE_MCP_TOKEN contains characters', { COVIBE_MCP_TOKEN: 'cv_ab cd' });
  await refused(here, 1, 'is not in a git repository', {}, temporaryFolder());
  await refused(['--base-url', s.url, '--agents', 'emacs'], 2, 'unknown agent "emacs"');
  await refused(['--base-url', s.url], 1, 'None of claude-code, codex, cursor, gemini, opencode was found');
  await refused(['--base-url', 'http://covenant.example', '--agents', 'codex', '--hooks', 'http'], 2, 'only with a server on this machine');
  await refused([...here, '--hooks', 'http'], 1, 'COVIBE_MCP_TOKEN, which is not set');
  expect({ ...both(m, repo), home: before.home }).toEqual(before);
  writeFileSync(join(m.home, 'file'), '');
  await refused(here, 1, 'cannot be written', { HOME: join(m.home, 'file') });
  writeFileSync(join(m.home, '.covibe/credentials.json'), '{ "tokens": ');
  await refused(here, 1, 'is not valid JSON');
  expect(readFileSync(join(m.home, '.covibe/credentials.json'), 'utf8')).toBe('{ "tokens": ');
});

test('--remove undoes what setup wrote; the service stays while another repository needs it, and the tokens stay', async () => {
  const s = await served();
  const m = testMachine();
  const env = { COVIBE_MCP_TOKEN: s.token };
  const [first, second] = [temporaryRepository(), temporaryRepository()];
  first.write('.mcp.json', '{ "mcpServers": { "mine": { "command": "mine" } } }\n');
  const before = withoutTimes(first.path);
  for (const { path } of [first, second]) await m.run(path, ['setup', '--base-url', s.url, '--agents', 'claude-code'], env);
  const unit = join(m.home, '.config/systemd/user/covibe-watch.service');
  const setUp = contents(first.path);
  expect(await m.run(first.path, ['setup', '--remove', '--agents', 'cursor'], env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('with --agents'),
  });
  expect(await m.run(first.path, ['setup', '--remove', '--base-url', s.url], env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('with --base-url'),
  });
  expect(contents(first.path)).toEqual(setUp);

  const removed = await m.run(first.path, ['setup', '--remove'], env);
  expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining('watch service kept: it serves another repository on this machine') });
  expect(withoutTimes(first.path)).toEqual(before);
  expect(existsSync(unit)).toBe(true);
  expect(await m.run(second.path, ['setup', '--remove', '--json'], env)).toMatchObject({
    code: 0,
    json: { kind: 'setup_removed', service: { removed: true } },
  });
  expect(existsSync(unit)).toBe(false);
  expect((await m.run(second.path, ['setup', '--remove'], env)).stdout).toContain('setup has written nothing here');
  // Add a token, so that the missing setup is the only fault that doctor finds.
  writeFileSync(join(m.home, '.covibe/credentials.json'), JSON.stringify({ origin: 'https://other.example', tokens: { codex: 'cv_1' } }), { mode: 0o600 });
  const after = await m.run(second.path, ['doctor', '--base-url', s.url, '--json']);
  expect(after.json).toMatchObject({
    failed: 1,
    items: expect.arrayContaining([{ check: 'setup', state: 'failed', message: expect.any(String), fix: `covibe-local setup --base-url ${s.url}` }]),
  });
});

test('a moved repository has no record: --remove names the files that contain our entries', async () => {
  const s = await served();
  const m = testMachine();
  const env = { COVIBE_MCP_TOKEN: s.token };
  const repo = temporaryRepository();
  await m.run(repo.path, ['setup', '--base-url', s.url, '--agents', 'claude-code', '--no-service'], env);
  repo.write('.opencode/plugins/covibe.js', 'export const Mine = 1;\n');
  const moved = join(temporaryFolder(), 'moved');
  renameSync(repo.path, moved);
  const { stdout } = await m.run(moved, ['setup', '--remove'], env);
  expect(stdout).toMatch(/^! \.mcp\.json has entries like ours/m);
  expect(stdout).toMatch(/^! \.claude\/settings\.json has entries like ours/m);
  expect(stdout).not.toContain('covibe.js');
});

test('the three bins of the package run through npm exec, and setup works that way [companion.package.bins] [companion.setup.command]', async () => {
  const s = await served();
  const repo = repositoryWithThePackage();
  const home = temporaryFolder();
  const npmExec = async (...args: string[]) => {
    const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', COVIBE_MCP_TOKEN: s.token };
    const child = spawn('npm', ['exec', '--offline', '--', ...args], { cwd: repo.path, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout: stdout.trim() };
  };
  expect(Object.keys(manifest.bin)).toEqual(['covenant', 'covibe-mcp', 'covibe-local']);
  expect(await npmExec('covenant', '--version')).toEqual({ code: 0, stdout: manifest.version });
  expect(await npmExec('covibe-local', '--version')).toEqual({ code: 0, stdout: manifest.version });
  expect(await npmExec('covibe-mcp')).toEqual({ code: 0, stdout: '' });
  const setup = await npmExec('covibe-local', 'setup', '--base-url', s.url, '--agents', 'claude-code', '--no-service');
  expect(setup).toMatchObject({ code: 0, stdout: expect.stringMatching(/^✓ claude-code {2}/m) });
  // npm adds the programs to PATH only while its own command runs. Agents do not have this PATH, so their configuration must start the bridge from the
  // repository.
  const { mcpServers } = JSON.parse(readFileSync(join(repo.path, '.mcp.json'), 'utf8')) as { mcpServers: { covibe: unknown } };
  expect(mcpServers.covibe).toMatchObject({ command: 'npx', args: ['--no-install', 'covibe-mcp'], env: { COVIBE_BASE_URL: s.url } });
});

test("covenant connect --write puts the bridge into the agent's file and prints the token once, to be set where the agent starts", async () => {
  const m = testMachine();
  const at = { home: join(m.home, '.covenant'), env: m.env };
  const server = await startProgram(at);
  const repo = temporaryRepository();
  repo.write('.mcp.json', '{ "mcpServers": { "mine": { "command": "mine" } } }\n');
  const before = withoutTimes(repo.path);
  const ran = await covenant({ ...at, cwd: repo.path }, 'connect', 'claude-code', '--write');
  expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('✓ .mcp.json\n') });
  const [, token = ''] = /^export COVIBE_MCP_TOKEN=(cv_\S+)\n$/.exec(ran.stdout) ?? [];
  expect((await direct(server.url, token, 'clock')).status).toBe(200);
  const { mcpServers } = JSON.parse(readFileSync(join(repo.path, '.mcp.json'), 'utf8')) as { mcpServers: Record<string, unknown> };
  expect(mcpServers).toMatchObject({ mine: { command: 'mine' }, covibe: { command: 'covibe-mcp', env: { COVIBE_BASE_URL: server.url } } });
  expect(Object.keys(contents(repo.path)).toSorted()).toEqual(['.mcp.json', 'file-0.txt']);
  expect(JSON.stringify([contents(repo.path), contents(join(m.home, '.covibe'))])).not.toContain(token);

  const codex = await covenant({ ...at, cwd: repo.path }, 'connect', 'codex', '--write', '--json');
  expect(codex.json).toMatchObject({ kind: 'connection', where: '~/.codex/config.toml', command: expect.stringMatching(/^export COVIBE_MCP_TOKEN=/) });
  expect(readFileSync(join(m.home, '.codex/config.toml'), 'utf8')).toContain('[mcp_servers.covibe]');
  expect(await m.run(repo.path, ['setup', '--remove'])).toMatchObject({ code: 0 });
  expect([withoutTimes(repo.path), existsSync(join(m.home, '.codex/config.toml'))]).toEqual([before, false]);

  await m.run(repo.path, ['setup', '--base-url', server.url, '--agents', 'claude-code', '--no-service'], { COVIBE_MCP_TOKEN: token });
  expect(await covenant({ ...at, cwd: repo.path }, 'connect', 'claude-code', '--write')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has already set up claude-code here'),
  });
  expect((await covenant({ ...at, cwd: repo.path }, 'connect', 'codex', '--write', '--toolsets', 'team')).code).toBe(2);
});
