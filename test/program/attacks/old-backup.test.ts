import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../src/testing/database.ts';
import { covenant, direct, startProgram } from '../../../src/testing/program.ts';
import { postSignIn } from '../../../src/testing/signin.ts';

async function place() {
  const at = { home: temporaryFolder() };
  const run = (...args: string[]) => covenant(at, ...args);
  const create = async (developer: string) => (await run('tokens', 'create', '--developer', developer, '--agent', 'codex', '--json')).json;
  return { at, run, create, backup: join(at.home, 'old.db') };
}

test('an old backup brings no revoked token, sign-in link or device code back to life, unless told otherwise [harden.restore.revived-tokens] [storage.cli.backup-restore]', async () => {
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
  expect(said.stdout).toMatch(/1 token work.+[\s\S]+revoked since[\s\S]+because of --keep-tokens/);
  expect(await status(stolen.token)).toMatchObject({ cookie: null });
  expect((await status(stolen.token)).status).not.toBe(401);
});

test('where there is no database to compare with, every token of the backup is revoked, and restore says so [harden.restore.revived-tokens]', async () => {
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

test.each([
  ['a trigger', `create trigger pwned after insert on events begin update tokens set revoked_at = null; end`, 'trigger pwned'],
  ['a view', `create view developers_of as select * from tokens`, 'view developers_of'],
  ['a table', `create table more (x text)`, 'table more'],
  ['a table in another shape', `alter table tokens add column extra text`, 'table tokens'],
])('a backup with %s that Covenant did not make is refused before anything is replaced [harden.restore.extra-objects]', async (_what, statement, named) => {
  const { at, run, create, backup } = await place();
  await create('ana');
  await run('backup', backup);
  const db = new DatabaseSync(backup);
  db.exec(statement);
  db.close();
  await create('ben');
  const before = readFileSync(join(at.home, 'covenant.db'));
  const refused = await run('restore', backup, '--json');
  expect(refused).toMatchObject({ code: 1, json: { code: 'BACKUP_ALTERED', message: expect.stringContaining(named) } });
  expect(readFileSync(join(at.home, 'covenant.db')).equals(before)).toBe(true);
});
