import { statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { ENGINE, temporaryDatabase } from '../testing/store/database.ts';
import { openTestStore } from '../testing/store/store.ts';
import { copyDatabase } from './copy-database.ts';
import { SchemaMismatch, StoreBusy } from './errors.ts';
import { inspectDatabaseFile } from './inspect.ts';
import { readEvents } from './journal.ts';
import { type Migration, missingFromSchema, SCHEMA_VERSION } from './migrate.ts';
import { MIGRATIONS } from './migrations/index.ts';

test('migrations are numbered from the baseline without gaps', () => {
  expect(MIGRATIONS.map((migration) => migration.number)).toEqual(MIGRATIONS.map((_, index) => MIGRATIONS[0].number + index));
});

test('a database made by the migrations that the baseline replaced opens without changes', async () => {
  const database = await temporaryDatabase(ENGINE, { bare: true });
  const store = await openTestStore(database);
  await store.append('ws_test', [{ category: 'work', kind: 'kept', actor: 'a' }]);
  const earlier = Array.from({ length: MIGRATIONS[0].number - 1 }, (_, index) => ({ number: index + 1, name: `earlier_${index}`, applied_at: 0 }));
  await store.engine.transaction('schema', (db) => db.insertInto('schema_migrations').values(earlier).execute());
  await store.close();
  const again = await openTestStore(database);
  expect(again.backup).toBeUndefined();
  expect(await missingFromSchema(again.engine)).toEqual([]);
  expect(await readEvents(again.reader, 'ws_test', 0, 1)).toHaveLength(1);
});

test('refuses a database older than the baseline and names the commit that still migrates it', async () => {
  const database = await temporaryDatabase(ENGINE, { bare: true });
  const store = await openTestStore(database);
  await store.engine.transaction('schema', (db) => db.updateTable('schema_migrations').set({ number: 15, name: 'people' }).execute());
  await store.close();
  await expect(openTestStore(database)).rejects.toThrow(/has schema 15, but this program migrates only from 16 on: start covenant of commit c09f4ba/);
  if (ENGINE === 'sqlite') expect(inspectDatabaseFile(database.path, 'look')).toMatchObject({ trouble: 'obsolete' });
});

test('refuses a database newer than the program and says so [storage.migrate.newer-refused]', async () => {
  const database = await temporaryDatabase(ENGINE, { bare: true });
  const store = await openTestStore(database);
  await store.engine.transaction('schema', (db) =>
    db
      .insertInto('schema_migrations')
      .values({ number: SCHEMA_VERSION + 1, name: 'from_tomorrow', applied_at: 0 })
      .execute(),
  );
  const refused = openTestStore(database);
  await expect(refused).rejects.toBeInstanceOf(SchemaMismatch);
  await expect(openTestStore(database)).rejects.toThrow(`schema ${SCHEMA_VERSION + 1} (from_tomorrow) but this program only knows ${SCHEMA_VERSION}`);
});

test('refuses a database of another program', async () => {
  const database = await temporaryDatabase(ENGINE, { bare: true });
  const store = await openTestStore(database);
  await store.engine.transaction('schema', (db) => db.updateTable('schema_migrations').set({ name: 'else' }).execute());
  await expect(openTestStore(database)).rejects.toThrow('belongs to another program');
});

test('migrates an older database on start, on SQLite after a backup copy [storage.migrate.older]', async () => {
  const database = await temporaryDatabase(ENGINE, { bare: true });
  const older = await openTestStore(database);
  await older.append('ws_test', [{ category: 'work', kind: 'kept', actor: 'a' }]);
  await older.close();
  const next: Migration = {
    number: SCHEMA_VERSION + 1,
    name: 'next',
    up: async (db) => void (await db.schema.createTable('next_things').addColumn('id', 'text').execute()),
  };
  const migrated = await openTestStore(database, { migrations: [...MIGRATIONS, next] });
  const tables = (await migrated.reader.introspection.getTables()).map((table) => table.name);
  expect(tables).toContain('next_things');
  expect((await readEvents(migrated.reader, 'ws_test', 0, 1)).map((event) => event.kind)).toEqual(['kept']);
  if (ENGINE === 'postgres') return;
  const copy = await openTestStore({ ...database, path: migrated.backup as string });
  expect((await copy.reader.introspection.getTables()).map((table) => table.name)).not.toContain('next_things');
  expect(await readEvents(copy.reader, 'ws_test', 0, 1)).toHaveLength(1);
});

test.runIf(ENGINE === 'postgres')("a migration, and waiting for another server's migration, may take longer than the statement timeout", async () => {
  const database = await temporaryDatabase(ENGINE, { bare: true });
  await (await openTestStore(database)).close();
  const slow: Migration = { number: SCHEMA_VERSION + 1, name: 'slow', up: async (db) => void (await sql`select pg_sleep(0.5)`.execute(db)) };
  const open = () => openTestStore(database, { migrations: [...MIGRATIONS, slow], statementTimeoutMs: 100 });
  const [one] = await Promise.all([open(), open()]);
  const cancelled = one.write('ws_test', async (tx) => void (await sql`select pg_sleep(0.5)`.execute(tx.db)));
  await expect(cancelled).rejects.toBeInstanceOf(StoreBusy);
});

test('a failed migration leaves the database unchanged', async () => {
  const database = await temporaryDatabase(ENGINE, { bare: true });
  await (await openTestStore(database)).close();
  const broken: Migration = {
    number: SCHEMA_VERSION + 1,
    name: 'broken',
    up: async (db) => {
      await db.schema.createTable('half').addColumn('id', 'text').execute();
      throw new Error('half way');
    },
  };
  await expect(openTestStore(database, { migrations: [...MIGRATIONS, broken] })).rejects.toThrow('half way');
  const store = await openTestStore(database);
  expect((await store.reader.introspection.getTables()).map((table) => table.name)).not.toContain('half');
});

test('two servers that start at the same time on an empty database both succeed', async () => {
  const database = await temporaryDatabase(ENGINE, { bare: true });
  const stores = await Promise.all([openTestStore(database), openTestStore(database), openTestStore(database)]);
  for (const store of stores) expect(await missingFromSchema(store.engine)).toEqual([]);
});

test.runIf(ENGINE === 'sqlite')('the database and its copies are readable only by their owner', async () => {
  const database = await temporaryDatabase(ENGINE, { bare: true });
  await openTestStore(database);
  const copy = join(database.home, 'copies', 'copy.db');
  await copyDatabase(database.path, copy);
  for (const path of [database.path, copy]) expect(statSync(path).mode & 0o777).toBe(0o600);
});
