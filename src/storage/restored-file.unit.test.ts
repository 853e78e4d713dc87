import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../testing/store/database.ts';
import { DISGUISED, disguise } from '../testing/store/disguised.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { openStore } from './open.ts';
import { strangeObjects, tokensIn } from './restored-file.ts';

test('a file of any Covenant version has no strange objects, and any other object in it is reported [harden.restore.extra-objects]', async () => {
  for (let upTo = 1; upTo <= MIGRATIONS.length; upTo++) {
    const path = join(temporaryFolder(), 'covenant.db');
    const store = await openStore({ path, now: () => 1, statementTimeoutMs: 1_000, migrations: MIGRATIONS.slice(0, upTo) });
    await store.close();
    expect([upTo, await strangeObjects(path)]).toEqual([upTo, []]);
    expect(tokensIn(path)).toEqual([]);
    const db = new DatabaseSync(path);
    // The LIKE pattern 'sqlite_%' would match this name.
    db.exec('create trigger sqliteX after insert on tokens begin select 1; end');
    db.exec('drop index if exists events_by_subject');
    db.close();
    expect(await strangeObjects(path)).toContain('trigger sqliteX');
  }
});

test("an object named like SQLite's own is recognized by its definition [harden.restore.extra-objects]", async () => {
  for (const [statement, named] of Object.entries(DISGUISED)) {
    const path = join(temporaryFolder(), 'covenant.db');
    await (await openStore({ path, now: () => 1, statementTimeoutMs: 1_000 })).close();
    disguise(path, statement);
    expect(await strangeObjects(path)).toEqual([named]);
  }
});
