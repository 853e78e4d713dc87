import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { covenant, direct, type Environment, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryDatabase, temporaryFolder } from '../../src/testing/store/database.ts';

/** Returns an export without its header, because the header contains the time. */
const content = (path: string) => readFileSync(path, 'utf8').split('\n').slice(1).join('\n');

/** Returns the lines of an export that an import stores. The last line is left out too, because it contains the number of lines. */
const broughtLines = (path: string) =>
  content(path)
    .split('\n')
    .filter((line) => !/"table":"signin_links"|"kind":"(operator|end)"/.test(line));

async function worked(at: Environment): Promise<string> {
  const { json } = await covenant(at, 'tokens', 'create', '--developer', 'ana', '--agent', 'codex', '--json');
  await covenant(at, 'capabilities', 'grant', 'tool.call.echo', '--token', String(json.token_id));
  await covenant(at, 'workflow', 'create', '--name', 'first', '--prompt', 'Fix login', '--repo', at.home);
  return String(json.token);
}

test('moves a workspace from SQLite to PostgreSQL and back with the same rows and head, and working tokens', async () => {
  const files = temporaryFolder();
  const postgres = await temporaryDatabase('postgres');
  const first: Environment = { home: temporaryFolder(), cwd: files };
  const second: Environment = { home: postgres.home, cwd: files, env: { DATABASE_URL: String(postgres.url) } };
  const third: Environment = { home: temporaryFolder(), cwd: files };

  const server = await startProgram(first);
  const token = await worked(first);
  const out = await covenant(first, 'export', 'one.jsonl', '--json');
  expect(out).toMatchObject({ code: 0, json: { kind: 'workspace_exported', path: join(files, 'one.jsonl'), workspace: 'default', verified: true } });
  const { rows, journal } = out.json as { rows: Record<string, number>; journal: object };
  expect(rows).toMatchObject({ workspaces: 1, developers: 2, workflows: 1, tokens: 2 });
  expect(statSync(join(files, 'one.jsonl')).mode & 0o777).toBe(0o600);
  await server.stop();

  for (const [at, from, to] of [
    [second, 'one.jsonl', 'two.jsonl'],
    [third, 'two.jsonl', 'three.jsonl'],
  ] as const) {
    const taken = await covenant(at, 'import', from, '--json');
    // An import leaves out operator tokens and sign-in links, because they belong to one server.
    const left_out = from === 'one.jsonl' ? { operator_tokens: 1, signin_links: 1 } : {};
    const brought = { ...rows, tokens: 1, signin_links: 0 };
    expect(taken).toMatchObject({ code: 0, json: { kind: 'workspace_imported', workspace: 'default', rows: brought, journal, verified: true } });
    expect(taken.json.left_out).toEqual(left_out);
    expect(await covenant(at, 'export', to, '--json')).toMatchObject({ code: 0, json: { rows: brought, journal } });
    expect(broughtLines(join(files, to))).toEqual(broughtLines(join(files, 'one.jsonl')));
  }

  for (const at of [second, third]) {
    const next = await startProgram(at);
    const answer = await direct(next.url, token, 'echo', { text: 'still here' });
    expect(answer).toMatchObject({ status: 200 });
    expect(await covenant(at, 'audit', 'verify', '--json')).toMatchObject({ code: 0, json: { valid: true } });
    const again = await covenant(at, 'import', 'one.jsonl', '--json');
    expect(again).toMatchObject({ code: 1, json: { code: 'SERVER_RUNNING', next: expect.stringContaining('import') } });
    await next.stop();
    expect(await covenant(at, 'import', 'one.jsonl', '--json')).toMatchObject({ code: 1, json: { code: 'WORKSPACE_IN_USE' } });
  }
});

test('an export gets a new name, replaces no file, leaves no partial file, and goes to stdout for -', async () => {
  const at: Environment = { home: temporaryFolder(), cwd: temporaryFolder() };
  const missing = await covenant(at, 'export', '--json');
  expect(missing).toMatchObject({ code: 1, json: { code: 'NOTHING_TO_EXPORT' } });
  expect(existsSync(join(at.home, 'covenant.db'))).toBe(false);
  await covenant(at, 'status');
  const made = await covenant(at, 'export');
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('Protect it like the database') });
  const [name = ''] = readdirSync(String(at.cwd));
  expect(name).toMatch(/^covenant-default-\d{4}-\d\d-\d\d\.jsonl$/);
  expect(await covenant(at, 'export', '--json')).toMatchObject({ code: 1, json: { code: 'FILE_EXISTS' } });
  expect(await covenant(at, 'export', 'x.jsonl', '--workspace', 'other', '--json')).toMatchObject({ code: 1, json: { code: 'NOT_FOUND' } });
  expect(readdirSync(String(at.cwd))).toEqual([name]);
  const piped = await covenant(at, 'export', '-');
  expect(piped.code).toBe(0);
  expect(piped.stdout.split('\n').slice(1, -2)).toEqual(
    content(join(String(at.cwd), name))
      .split('\n')
      .slice(0, -2),
  );
});

test('a foreign file creates no home, a damaged one changes nothing, and an import works after a first start', async () => {
  const files = temporaryFolder();
  const from: Environment = { home: temporaryFolder(), cwd: files };
  await worked(from);
  await covenant(from, 'export', 'good.jsonl');
  writeFileSync(join(files, 'other.txt'), 'hello\n');
  writeFileSync(join(files, 'cut.jsonl'), readFileSync(join(files, 'good.jsonl'), 'utf8').slice(0, -300));
  const to: Environment = { home: join(files, 'home'), cwd: files };
  expect(await covenant(to, 'import', 'nowhere', '--json')).toMatchObject({ code: 1, json: { code: 'FILE_NOT_FOUND' } });
  expect(await covenant(to, 'import', 'other.txt', '--json')).toMatchObject({ code: 1, json: { code: 'NOT_AN_EXPORT' } });
  expect(existsSync(to.home)).toBe(false);
  const server = await startProgram(to);
  await server.stop();
  const refused = await covenant(to, 'import', 'cut.jsonl', '--json');
  expect(refused).toMatchObject({ code: 1, json: { code: 'FILE_DAMAGED', message: expect.stringMatching(/^line \d+: /) } });
  expect((await covenant(to, 'tokens', 'list', '--json')).json.items).toHaveLength(1);
  expect(await covenant(to, 'import', 'good.jsonl', '--workspace', 'other')).toMatchObject({ code: 2 });
  expect(await covenant(to, 'import', 'good.jsonl')).toMatchObject({ code: 0, stdout: expect.stringContaining('chain intact') });
  // The import has replaced the operator's token in the database, so the next command creates a new one.
  expect((await covenant(to, 'developers', 'list', '--json')).json.items).toContainEqual(expect.objectContaining({ name: 'ana' }));
});

test('an export that runs out of disk space names the file and leaves none, and an import refuses a pipe', async () => {
  const cwd = temporaryFolder();
  const at: Environment = { home: temporaryFolder(), cwd };
  await covenant(at, 'workflow', 'create', '--name', 'long', '--prompt', 'x'.repeat(90_000), '--repo', at.home);
  // The limit for file sizes is high enough for SQLite's shared memory, but too low for the export.
  const cramped: Environment = { ...at, through: ['sh', '-c', 'trap "" XFSZ; ulimit -f 100; exec "$@"', 'sh'] };
  const refused = await covenant(cramped, 'export', 'big.jsonl', '--json');
  expect(refused).toMatchObject({ code: 1, json: { code: 'NOT_WRITABLE', message: expect.stringContaining(join(cwd, 'big.jsonl')) } });
  expect(readdirSync(cwd)).toEqual([]);
  const full = await covenant({ ...at, through: ['sh', '-c', 'exec "$@" >/dev/full', 'sh'] }, 'export', '-');
  expect(full).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Cannot write to standard output: ENOSPC/m) });
  expect(full.stderr).not.toMatch(/^ {4}at /m);
  for (const none of [cwd, '-']) expect(await covenant(at, 'import', none, '--json')).toMatchObject({ code: 1, json: { code: 'NOT_A_FILE' } });
});
