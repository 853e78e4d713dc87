import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { servedApp, type TestApp } from '../../../testing/app.ts';
import { testMachine } from '../../../testing/programs/companion.ts';
import { companionRelease, quickNpm, RELEASE_KEY } from '../../../testing/programs/companion-release.ts';
import { temporaryRepository } from '../../../testing/scenes/repository.ts';
import { recordTraffic } from '../../../testing/stand-ins/traffic.ts';
import { claudeLine, rolloutLines, rolloutPath, transcriptPath, writeLines } from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { VERSION } from '../../../version.ts';
import { UsageError } from '../../cli/command.ts';
import { createOutput } from '../../cli/output.ts';
import { noteRepo } from '../state.ts';
import { watchCommand } from '../subcommands/watch.ts';
import { pinKey } from '../update/pinned-key.ts';
import { Ledger, openLedger } from './ledger.ts';
import { beginUsage } from './sync.ts';

const spans = (app: TestApp) => app.app.store.reader.selectFrom('agent_spans').selectAll().orderBy('id').execute();

async function watched() {
  const { url, ...app } = await servedApp();
  const traffic = await recordTraffic(url);
  const machine = testMachine();
  const token = { COVIBE_MCP_TOKEN: (await app.developer('ana')).token };
  beginUsage(machine.env, traffic.url, Date.now() - 60_000);
  return { app, traffic, machine, token, start: (...args: string[]) => machine.start(machine.home, ['watch', '--base-url', traffic.url, ...args], token) };
}

test('watch sends heartbeats with the active repositories, and usage, until it is stopped [companion.watch.command] [companion.repos.registered-by-activity]', async () => {
  const { app, traffic, machine, start } = await watched();
  const shop = temporaryRepository();
  noteRepo(machine.env, { checkout: shop.path, repo: 'shop' }, Date.now());
  noteRepo(machine.env, { checkout: join(machine.home, 'gone'), repo: 'gone' }, Date.now());
  writeLines(transcriptPath(machine.home), [claudeLine('one', 5)]);
  const { child, ran, said } = start('--interval', '1');
  await said(/1 usage event sent/);
  const repos = await app.app.store.reader.selectFrom('registered_repos').selectAll().execute();
  expect(repos.map(({ path, branch }) => [path, branch])).toEqual([[shop.path, 'main']]);
  traffic.down = true;
  writeLines(rolloutPath(machine.home), rolloutLines({ resp_1: 57 }));
  await said(/server unreachable \(\w+\); 1 usage event waiting/);
  const status = () => JSON.parse(readFileSync(join(machine.home, '.covibe/watch.json'), 'utf8')) as Record<string, unknown>;
  expect(status()).toMatchObject({
    pid: child.pid,
    version: VERSION,
    origin: traffic.url,
    sent: 1,
    waiting: 1,
    problem: expect.stringContaining('unreachable'),
  });
  traffic.down = false;
  await said(/recovered/);
  child.kill('SIGTERM');
  expect(await ran).toMatchObject({ code: 0, stdout: '' });
  expect(status()).toMatchObject({ pid: null, sent: 2, waiting: 0, problem: null, last_sync_at: expect.any(Number) });
  expect((await spans(app)).map(({ output_tokens }) => output_tokens)).toEqual([5, 57]);
  expect(traffic.calls('covibe_session')).toBe(1);
});

test('an event is neither lost nor counted twice if the watcher is killed after the server counted it', async () => {
  const { app, traffic, machine, start } = await watched();
  writeLines(transcriptPath(machine.home), [claudeLine('one', 5), claudeLine('two', 6), claudeLine('three', 7)]);
  const first = start('--once');
  traffic.answered = (request) => {
    if (!request.includes('covibe_ingest')) return undefined;
    first.child.kill('SIGKILL');
    // The watcher is killed before it gets the answer.
    return first.ran;
  };
  await first.ran;
  traffic.answered = undefined;
  expect(await spans(app)).toHaveLength(1);
  const { code } = await start('--once').ran;
  expect(code).toBe(0);
  expect((await spans(app)).map(({ output_tokens }) => output_tokens)).toEqual([5, 6, 7]);
  expect(traffic.calls('covibe_ingest_agent_telemetry')).toBe(4);
});

test('two watchers on one machine report everything once', async () => {
  const { app, machine, start } = await watched();
  writeLines(
    transcriptPath(machine.home),
    [...Array(40).keys()].map((at) => claudeLine(`m${at}`, at + 1)),
  );
  const both = [start('--once'), start('--once')];
  const codes = (await Promise.all(both.map(({ ran }) => ran))).map(({ code }) => code);
  expect(codes).toEqual([0, 0]);
  expect((await spans(app)).map(({ output_tokens }) => output_tokens)).toEqual([...Array(40).keys()].map((at) => at + 1));
});

test('a stopped run waits with its report until another process has finished its own report', async () => {
  const { app, traffic, machine, token } = await watched();
  const transcript = writeLines(transcriptPath(machine.home), [claudeLine('one', 5)]);
  const ledger = openLedger(machine.env, traffic.url, { now: Date.now() });
  const { child, ran } = machine.start(machine.home, ['hook', 'claude-code', 'usage', '--base-url', traffic.url, '--transcript', transcript], token);
  const ended = new AbortController();
  void ran.then(() => ended.abort());
  // The process tries to take the lock with a temporary file. The third rename event shows its second try.
  let seen = 0;
  for await (const { eventType, filename } of watch(join(machine.home, '.covibe/ledger'), { signal: ended.signal }))
    if (eventType === 'rename' && filename?.endsWith(`.${child.pid}`) && ++seen === 3) break;
  if (ledger instanceof Ledger) ledger.close();
  expect((await ran).code).toBe(0);
  expect(await spans(app)).toHaveLength(1);
});

test('telemetry submits the files of the inbox [companion.telemetry.command]', async () => {
  const { app, traffic, machine, token } = await watched();
  const root = temporaryFolder();
  const inbox = join(root, '.covibe/telemetry');
  mkdirSync(inbox, { recursive: true });
  writeFileSync(join(inbox, 'codex-1.json'), JSON.stringify({ model: 'gpt-5', usage: { input_tokens: 9, output_tokens: 1 } }));
  writeFileSync(join(inbox, 'other.json'), 'nonsense');
  utimesSync(join(inbox, 'other.json'), 1, 1);
  const flush = (...more: string[]) => machine.run(root, ['telemetry', '--base-url', traffic.url, '--inbox', '.covibe/telemetry', ...more], token);
  const ran = await flush();
  expect([ran.code, ran.stdout]).toEqual([0, '✓ 1 usage event sent\n! 1 file rejected: see rejected/\n']);
  expect([existsSync(join(inbox, 'sent/codex-1.json')), readFileSync(join(inbox, 'rejected/other.json.reason'), 'utf8')]).toEqual([
    true,
    'The file is not JSON.\n',
  ]);
  expect((await flush('--json')).json).toEqual({ kind: 'telemetry', sent: 0, waiting: 0, rejected: 0, left: [], problem: null });
  expect(await spans(app)).toMatchObject([{ source: 'codex', input_tokens: 9 }]);
  const nowhere = await machine.run(root, ['telemetry', '--base-url', traffic.url, '--inbox', 'nowhere', '--json'], token);
  expect([nowhere.code, nowhere.json]).toMatchObject([1, { code: 'NO_INBOX' }]);
  const without = await machine.run(root, ['telemetry', '--base-url', traffic.url, '--json']);
  expect([without.code, without.json]).toMatchObject([1, { code: 'NO_TOKEN' }]);
});

test('telemetry leaves files without usage in a folder that is not an inbox, and fails', async () => {
  const { app, traffic, machine, token } = await watched();
  const root = temporaryFolder();
  for (const [name, text] of Object.entries({ 'package.json': '{"name":"shop"}', 'codex-1.json': '{"usage":{"input_tokens":9,"output_tokens":1}}' }))
    writeFileSync(join(root, name), text);
  const flush = (...more: string[]) => machine.run(root, ['telemetry', '--base-url', traffic.url, '--inbox', '.', ...more], token);
  const ran = await flush();
  expect([ran.code, ran.stdout]).toEqual([
    1,
    expect.stringMatching(/^✓ 1 usage event sent\n✗ \S+package\.json contains no usage and was not moved: The file has/),
  ]);
  expect(readdirSync(root).sort()).toEqual(['package.json', 'sent']);
  expect((await flush('--json')).json).toMatchObject({ rejected: 0, left: [{ file: join(root, 'package.json') }] });
  for (let at = 0; at < 11; at++) writeFileSync(join(root, `other-${at}.json`), '{}');
  expect((await flush()).stdout).toMatch(/other-0\.json contains no usage[\s\S]*\n✗ and 2 files more\n$/);
  expect(await spans(app)).toHaveLength(1);
});

test.each([{ interval: 'soon' }, { interval: '0' }, { since: 'yesterday' }, { since: '5' }, { since: 'week 1' }, { since: '2999-01-01' }])(
  'watch reports a usage error for the arguments %j',
  async (values) => {
    const command = watchCommand;
    const invocation = {
      env: { HOME: '/nowhere' },
      cwd: '/',
      json: false,
      out: createOutput({}, process.stdout, process.stderr),
      values: { once: true, ...values },
      positionals: [],
    };
    await expect(command?.run(invocation)).rejects.toThrow(UsageError);
  },
);

test('a watcher that cannot write reports that once and continues', async () => {
  const { machine, app, start } = await watched();
  mkdirSync(join(machine.home, '.covibe/watch.json'));
  writeLines(transcriptPath(machine.home), [claudeLine('one', 5)]);
  const { child, ran, said } = start('--interval', '1');
  await said(/~\/\.covibe cannot be written \(EISDIR\)/);
  writeLines(transcriptPath(machine.home, 'run-2'), [claudeLine('two', 6)]);
  await said(/1 usage event sent[\s\S]*1 usage event sent/);
  child.kill('SIGTERM');
  expect((await ran).code).toBe(0);
  expect(await spans(app)).toHaveLength(2);
});

const updating = async (program: string) => {
  const { manifest } = companionRelease('99.0.0', { program });
  const { url, ...app } = await servedApp({ companionManifest: manifest });
  const machine = testMachine();
  pinKey(machine.env, url, RELEASE_KEY.publicKey);
  const env = { COVIBE_MCP_TOKEN: (await app.developer('ana')).token, PATH: `${quickNpm()}:${machine.env.PATH}` };
  return { machine, start: (...args: string[]) => machine.start(machine.home, ['watch', '--base-url', url, '--interval', '1', ...args], env) };
};

test('a watcher switches to an offered release, and still runs it after a restart [companion.update.self]', async () => {
  const { machine, start } = await updating(`
    process.stderr.write('99 watches: ' + process.argv.slice(2).join(' ') + '\\n');
    process.on('SIGTERM', () => process.exit(0));
    setInterval(() => {}, 1000);`);
  for (const told of [/updated from .* to 99\.0\.0/, /99 watches/]) {
    const { child, ran, said } = start('--self-update');
    await said(told);
    await said(/99 watches: watch --base-url http:\S+ --interval 1 --self-update/);
    child.kill('SIGTERM');
    expect((await ran).code).toBe(0);
  }
  expect(JSON.parse(readFileSync(join(machine.home, '.covibe/companion/current.json'), 'utf8'))).toMatchObject({ version: '99.0.0' });
});

test('the watcher returns to its previous release if a new release exits immediately', async () => {
  const { machine, start } = await updating('process.exit(3);');
  const { child, ran, said } = start('--self-update');
  await said(/not updated to 99\.0\.0: it exited immediately with code 3/);
  await said(/with code 3.*\s+Reporting model usage/);
  child.kill('SIGTERM');
  expect((await ran).code).toBe(0);
  expect(existsSync(join(machine.home, '.covibe/companion/current.json'))).toBe(false);
});

test('without the flag, the watcher announces a new release once, with the command to install it', async () => {
  const { machine, start } = await updating('');
  const { child, ran, said } = start();
  await said(/version 99\.0\.0 is available \(this is .*\): run covibe-local watch --self-update/);
  child.kill('SIGTERM');
  expect((await ran).code).toBe(0);
  expect(existsSync(join(machine.home, '.covibe/companion'))).toBe(false);
});
