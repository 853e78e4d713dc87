import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { type FileDisk, fileDisk } from '../../machine/files.ts';
import { brokerFile, brokerRepository, type CycleApp, checkFiles, cycleApp, readBroker, writeConfig } from '../../testing/scenes/cycle.ts';
import { ENGINE } from '../../testing/store/database.ts';
import { until } from '../../testing/until.ts';
import { behindIn, latestCycle } from './store.ts';
import { IMPORTED_LOCK } from './tokens.ts';

/** Takes a cycle through all phases to `complete`, and returns the arguments of the call that archives it. */
async function completed(app: CycleApp, feature = 'featureX') {
  const [gemini, codex] = [await app.open('gemini'), await app.open('codex')];
  const { cycle_id } = await app.ok('cycle.start', { feature });
  await app.handOver('codex', gemini);
  await app.handOver('gemini', codex);
  const { lock_token } = await app.ok('lock.acquire', { session_token: gemini });
  await app.ok('cycle.complete', { session_token: gemini, lock_token });
  return { cycle_id, held: { session_token: gemini, lock_token } };
}

test('a server delayed between reading the store and writing files does not leave them older than the store', async () => {
  const app = await cycleApp();
  const { database, repository, ana } = app;
  const gemini = await app.open('gemini');
  const codex = await app.open('codex');
  let held: { readonly at: Promise<void>; readonly reached: () => void; readonly go: Promise<void> } | undefined;
  let countdown = 0;
  const slow =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (held && --countdown === 0) {
        held.reached();
        await held.go;
      }
      return await work(...args);
    };
  const { readText, makeFolder, removeLeftovers, replaceFile, removeFile } = fileDisk;
  const files: FileDisk = {
    ...fileDisk,
    readText: slow(readText),
    makeFolder: slow(makeFolder),
    removeLeftovers: slow(removeLeftovers),
    replaceFile: slow(replaceFile),
    removeFile: slow(removeFile),
  };
  const other = await cycleApp({ database, repository, files });
  await app.ok('cycle.start', { feature: 'pauses' });
  for (const steps of [1, 2, 4, 6, 8, 9, 10, 11]) {
    const { lock_token } = await app.ok('lock.acquire', { session_token: gemini });
    const payload = await app.payload('codex', { notes: [`held up at ${steps}`] });
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    held = { at: reached.promise, reached: reached.resolve, go: go.promise };
    countdown = steps;
    const slowly = other.ok('handoff.write', { target: 'codex', session_token: gemini, lock_token, payload }, ana);
    await Promise.race([reached.promise, slowly]);
    // The change of the slow server may still be in progress. Once it is committed, the other server continues and finishes before the slow one.
    const committed = (await app.ok('cycle.status')).active_role === 'codex';
    if (committed) await app.handOver('gemini', codex);
    go.resolve();
    held = undefined;
    await slowly;
    await checkFiles(app.app.store.reader, repository);
    if (!committed) await app.handOver('gemini', codex);
  }
});

test('two servers that archive the same cycle simultaneously make one archive without errors', async () => {
  const app = await cycleApp();
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const files: FileDisk = {
    ...fileDisk,
    async moveFolder(from, to) {
      arrived.resolve();
      await gate.promise;
      return await fileDisk.moveFolder(from, to);
    },
  };
  const slow = await cycleApp({ database: app.database, repository: app.repository, files });
  const { held } = await completed(app);
  const archiving = slow.ok('cycle.archive', held, app.ana);
  await arrived.promise;
  await app.ok('cycle.status');
  gate.resolve();
  expect(await archiving).not.toHaveProperty('mirror_error');
  await checkFiles(app.app.store.reader, app.repository);
});

test('an unrelated folder in place of an archive stays unchanged, is named in the error, and blocks neither other files nor other archives', async () => {
  const app = await cycleApp();
  const { repository } = app;
  const { cycle_id, held } = await completed(app, 'first');
  const target = brokerFile(repository, `archive/${cycle_id}`);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'notes.txt'), 'mine');
  expect((await app.ok('cycle.archive', held)).mirror_error).toContain(`${target} exists and is not the archive of this cycle`);
  expect(readdirSync(target)).toEqual(['notes.txt']);
  expect(readBroker(repository, 'state.json').active).toBe(false);
  const second = await completed(app, 'second');
  await app.ok('cycle.archive', second.held);
  expect(existsSync(brokerFile(repository, `archive/${second.cycle_id}/manifest.json`))).toBe(true);
  rmSync(target, { recursive: true });
  await app.ok('cycle.status');
  await checkFiles(app.app.store.reader, repository);
});

test('handoff files of an ended cycle are removed later, even if the next cycle has other roles; an archive is written when its repository returns', async () => {
  const app = await cycleApp();
  const { repository } = app;
  const { cycle_id, held } = await completed(app);
  const away = `${repository}-away`;
  const files = { ...fileDisk, makeFolder: () => Promise.reject(new Error('no')) };
  const blind = await cycleApp({ database: app.database, repository, files });
  expect((await blind.ok('cycle.archive', held, app.ana)).mirror_error).toBe('no');
  renameSync(repository, away);
  blind.clock.advance(10_000);
  await blind.app.close();
  renameSync(away, repository);
  const roles = { roles: ['one', 'two'], phases: { first: 'one', last: 'two' }, transitions: [{ from: 'first', to: 'last' }], final: 'last' };
  writeConfig(repository, { ...roles, agents: { one: { psk: 'psk of one' }, two: { psk: 'psk of two' } } });
  await app.ok('cycle.start', { feature: 'others' });
  expect(readdirSync(brokerFile(repository, 'handoff'))).toEqual([]);
  expect(existsSync(brokerFile(repository, `archive/${cycle_id}/manifest.json`))).toBe(true);
});

test('a server on a machine without the repository leaves the files to the server that has the repository', async () => {
  const app = await cycleApp();
  const { database, repository } = app;
  const stuck = { ...fileDisk, makeFolder: () => Promise.reject(new Error('no')) };
  const held = await cycleApp({ database, repository, files: stuck });
  await held.ok('cycle.start', { feature: 'here' });
  const elsewhere = await cycleApp({ database, repository, files: { ...fileDisk, isFolder: async () => false } });
  elsewhere.clock.advance(10_000);
  await elsewhere.app.close();
  const { mirrored, revision } = await app.app.store.reader.selectFrom('cycles').select(['mirrored', 'revision']).executeTakeFirstOrThrow();
  expect(mirrored).toBeLessThan(revision);
  app.clock.advance(10_000);
  await until(async () => expect(readBroker(repository, 'state.json')).toMatchObject({ active: true, feature: 'here' }));
});

test('the query of every call reads only a few rows of a repository with thousands of cycles', async () => {
  const app = await cycleApp();
  const { store } = app.app;
  await app.ok('cycle.start', { feature: 'many' });
  const row = await store.reader.selectFrom('cycles').selectAll().executeTakeFirstOrThrow();
  await store.write(row.workspace_id, async (tx) => {
    for (let batch = 0; batch < 20; batch++) {
      const past = Array.from({ length: 100 }, (_, index) => `${batch}-${index}`);
      const ended = { status: 'cancelled' as const, ended_at: 1, mirrored: row.revision };
      await tx.db
        .insertInto('cycles')
        .values(past.map((name) => ({ ...row, ...ended, id: `cyc_0${name}`, cycle_id: name })))
        .execute();
    }
  });
  if (ENGINE === 'postgres') await store.write(row.workspace_id, async (tx) => void (await sql`analyze cycles`.execute(tx.db)));
  const { active, last } = latestCycle(store.reader, app.repository);
  const plans = [];
  for (const query of [active, last, behindIn(store.reader, app.repository)]) {
    const plan = await query.explain(undefined, ENGINE === 'sqlite' ? sql`query plan` : undefined);
    plans.push(JSON.stringify(plan));
  }
  expect(plans[0]).toContain('cycles_active');
  expect(plans[1]).toContain('cycles_of_repository');
  expect(plans[2]).toContain('cycles_unmirrored');
  for (const plan of plans) expect(plan).not.toMatch(/TEMP B-TREE|Seq Scan|Sort/);
});

test('an imported cycle never controls the files of a repository, even if its id is the latest [harden.import.rows-validated]', async () => {
  const app = await cycleApp();
  await app.ok('cycle.start', { feature: 'elsewhere' });
  const { store } = app.app;
  const row = await store.reader.selectFrom('cycles').selectAll().executeTakeFirstOrThrow();
  const other = await cycleApp({ database: app.database, repository: brokerRepository() });
  const kept = brokerFile(other.repository, 'handoff/codex.json');
  mkdirSync(brokerFile(other.repository, 'handoff'));
  writeFileSync(kept, '{"precious":true}');
  const forged = { ...row, id: `cyc_7${'Z'.repeat(25)}`, cycle_id: '20260220T215622Z_forged', repository: other.repository, status: 'cancelled' as const };
  const insert = { ...forged, lock_token: IMPORTED_LOCK, ended_at: 1, mirrored: row.revision, workspace_id: 'ws_shop' };
  await store.write('ws_shop', async (tx) => void (await tx.db.insertInto('cycles').values(insert).execute()));
  await other.ok('cycle.status');
  expect(existsSync(brokerFile(other.repository, 'state.json'))).toBe(false);
  expect(readFileSync(kept, 'utf8')).toBe('{"precious":true}');
});
