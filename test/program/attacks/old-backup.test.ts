import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { covenant, direct, startProgram } from '../../../src/testing/programs/program.ts';
import { postSignIn } from '../../../src/testing/scenes/signin.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';
import { DISGUISED, disguise } from '../../../src/testing/store/disguised.ts';

async function place() {
  const at = { home: temporaryFolder() };
  const run = (...args: string[]) => covenant(at, ...args);
  const create = async (developer: string) => (await run('tokens', 'create', '--developer', developer, '--agent', 'codex', '--json')).json;
  return { at, run, create, backup: join(at.home, 'old.db') };
}

test('an old backup revives no revoked token, sign-in link or device code unless asked to [harden.restore.revived-tokens] [storage.cli.backup-restore]', async () => {
  const { at, run, create, backup } = await place();
  const [stolen, kept] = [await create('ana'), await create('ben')];
  const server = await startProgram(at);
  await run('backup', backup);
  await run('tokens', 'revoke', String(stolen.token_id));
  await server.stop();

  const restored = await run('restore', backup, '--json');
  expect(restored).toMatchObject({ code: 0, json: { compared: true, revoked: true } });
  expect(restored.json.revived_tokens).toEqual([expect.objectContaining({ token_id: stolen.token_id, workspace: 'default', kind: 'agent', why: 'revoked' })]);
  const status = async (token: unknown) => {
    const next = await startProgram(at);
    const answer = await direct(next.url, String(token), 'covibe_team', { operation: 'summary' });
    const link = await postSignIn(server.signinUrl.replace(new URL(server.signinUrl).origin, next.url));
    await next.stop();
    return { status: answer.status, cookie: link.headers.get('set-cookie') };
  };
  expect(await status(stolen.token)).toEqual({ status: 401, cookie: null });
  expect((await status(kept.token)).status).not.toBe(401);
  expect((await run('audit', 'recent', '--kind', 'token.revoked')).stdout).toContain(String(stolen.token_id));
  expect(await run('audit', 'verify')).toMatchObject({ code: 0 });

  const said = await run('restore', backup, '--keep-tokens');
  expect(said.stdout).toMatch(/1 token of the backup had been revoked.+[\s\S]+revoked since[\s\S]+because of --keep-tokens/);
  expect(await status(stolen.token)).toMatchObject({ cookie: null });
  expect((await status(stolen.token)).status).not.toBe(401);
});

test('an altered backup gives no token more rights [harden.restore.revived-tokens]', async () => {
  const { at, run, create, backup } = await place();
  const [raised, kept] = [await create('ana'), await create('ben')];
  await run('backup', backup);
  const db = new DatabaseSync(backup);
  db.prepare(`update tokens set kind = 'operator', developer_id = null, agent_type = null where id = ?`).run(String(raised.token_id));
  db.close();
  const restored = await run('restore', backup, '--json');
  expect(restored.json.revived_tokens).toEqual([expect.objectContaining({ token_id: raised.token_id, kind: 'operator', why: 'replaced' })]);
  const server = await startProgram(at);
  const headers = { authorization: `Bearer ${raised.token}`, 'content-type': 'application/json' };
  expect((await fetch(`${server.url}/api/actions/tokens.list`, { method: 'POST', headers, body: '{}' })).status).toBe(401);
  expect((await direct(server.url, String(kept.token), 'covibe_team', { operation: 'summary' })).status).not.toBe(401);
  await server.stop();
});

test('without a database to compare with, restore revokes every token of the backup and reports it [harden.restore.revived-tokens]', async () => {
  const { at, run, create, backup } = await place();
  const { token_id } = await create('ana');
  await run('backup', backup);
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(at.home, `covenant.db${suffix}`), { force: true });
  const { json } = await run('restore', backup, '--json');
  expect(json).toMatchObject({
    compared: false,
    revoked: true,
    revived_tokens: expect.arrayContaining([expect.objectContaining({ token_id, why: 'unknown' })]),
  });
  const { items } = (await run('tokens', 'list', '--json')).json as { items: { token_id: string; revoked_at: number | null }[] };
  expect(items.find((item) => item.token_id === token_id)?.revoked_at).not.toBeNull();
});

const asExecuted = (statement: string) => (path: string) => {
  const db = new DatabaseSync(path);
  db.exec(statement);
  db.close();
};
const [[hiddenTrigger, hiddenName]] = Object.entries(DISGUISED) as [[string, string]];

test.each([
  ['a hidden trigger', (path: string) => disguise(path, hiddenTrigger), hiddenName],
  ['a trigger', asExecuted(`create trigger pwned after insert on events begin update tokens set revoked_at = null; end`), 'trigger pwned'],
  ['a view', asExecuted(`create view developers_of as select * from tokens`), 'view developers_of'],
  ['a table', asExecuted(`create table more (x text)`), 'table more'],
  ['a table in another shape', asExecuted(`alter table tokens add column extra text`), 'table tokens'],
])('refuses a backup with %s that Covenant did not create, before anything is replaced [harden.restore.extra-objects]', async (_what, alter, named) => {
  const { at, run, create, backup } = await place();
  await create('ana');
  await run('backup', backup);
  alter(backup);
  await create('ben');
  const before = readFileSync(join(at.home, 'covenant.db'));
  const refused = await run('restore', backup, '--json');
  expect(refused).toMatchObject({ code: 1, json: { code: 'BACKUP_ALTERED', message: expect.stringContaining(named) } });
  expect(readFileSync(join(at.home, 'covenant.db')).equals(before)).toBe(true);
});

test('a symbolic link among the anchors of a backup does not redirect restore [harden.restore.extra-objects]', async () => {
  const { run, create, backup } = await place();
  await create('ana');
  await run('audit', 'anchor');
  await run('backup', backup);
  const precious = join(temporaryFolder(), 'precious');
  writeFileSync(precious, 'as it was\n');
  const other = { home: temporaryFolder() };
  rmSync(join(`${backup}.anchors`, 'default.jsonl'));
  symlinkSync(precious, join(`${backup}.anchors`, 'default.jsonl'));
  const refused = await covenant(other, 'restore', backup, '--json');
  expect(refused).toMatchObject({ code: 1, json: { code: 'BACKUP_ALTERED', message: expect.stringContaining('default.jsonl') } });
  expect(existsSync(join(other.home, 'covenant.db'))).toBe(false);
  rmSync(join(`${backup}.anchors`, 'default.jsonl'));
  symlinkSync(precious, join(`${backup}.anchors`, 'else'));
  expect(await covenant(other, 'restore', backup)).toMatchObject({ code: 0 });
  expect(readdirSync(join(other.home, 'anchors')).sort()).toEqual(['anchor.key', 'anchor.keys.jsonl']);
  // Restore must not write through a symbolic link in the home either.
  symlinkSync(precious, join(other.home, 'anchors', 'default.jsonl'));
  expect((await covenant(other, 'audit', 'anchor')).code).not.toBe(0);
  expect(readFileSync(precious, 'utf8')).toBe('as it was\n');
});

test('a workspace missing from the backup can be created again under its name [harden.verify.anchors]', async () => {
  const { run, backup } = await place();
  await run('backup', backup);
  const make = () => run('tokens', 'create', '--developer', 'ana', '--workspace', 'shop');
  await make();
  expect(await run('audit', 'anchor', '--workspace', 'shop')).toMatchObject({ code: 0 });
  expect(await run('restore', backup)).toMatchObject({ code: 0 });
  expect(await make()).toMatchObject({ code: 0 });
  expect(await run('audit', 'anchor', '--workspace', 'shop', '--json')).toMatchObject({ code: 0, json: { anchor: { kind: 'anchor' } } });
  expect((await run('audit', 'verify', '--workspace', 'shop', '--json')).json).toMatchObject({ valid: true, anchors: { failed: 0 } });
});
