import { readFileSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import { expect, test } from 'vitest';
import { ENGINE, temporaryDatabase } from '../testing/store/database.ts';
import { rowTypes } from '../testing/store/row-types.ts';
import { openTestStore } from '../testing/store/store.ts';
import type { EngineKind } from './engine.ts';
import { SCHEMA_VERSION } from './migrate.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { SCHEMA } from './schema.ts';
import { createTables } from './schema-text.ts';

test('the recorded schema is current: npm run schema rewrites it', async () => {
  const store = await openTestStore();
  expect(await store.engine.dumpSchema()).toBe(SCHEMA[ENGINE]);
});

test('the row types are current: npm run schema rewrites them', () => {
  expect(readFileSync(new URL('schema-rows.ts', import.meta.url), 'utf8')).toBe(rowTypes());
});

const later = (tables: string) => [
  ...MIGRATIONS,
  { number: SCHEMA_VERSION + 1, name: 'later', tables, up: (db: Kysely<unknown>, engine: EngineKind) => createTables(db, engine, tables) },
];

test('a later migration adds and drops columns, and the row type follows', async () => {
  const migrations = later(`
alter workspaces
  closed_at? time -- When its last token was revoked.
  plan 'free' | 'paid' = 'free', seats int = 3
  index workspaces_closed (closed_at)
  drop created_at
`);
  const store = await openTestStore(await temporaryDatabase(ENGINE, { bare: true }), { migrations });
  await store.engine.transaction('ws_new', (db) => sql`insert into workspaces (id, name) values ('ws_new', 'new')`.execute(db));
  expect((await sql`select * from workspaces where id = 'ws_new'`.execute(store.reader)).rows).toEqual([
    { id: 'ws_new', name: 'new', closed_at: null, plan: 'free', seats: 3 },
  ]);
  expect(rowTypes(migrations)).toContain(`export interface WorkspaceRow {
  id: string;
  name: string;
  /** When its last token was revoked. */
  closed_at: EpochMs | null;
  plan: 'free' | 'paid';
  seats: number;
}`);
});

test('refuses a new column without a value for existing rows', async () => {
  await expect(openTestStore(await temporaryDatabase(ENGINE, { bare: true }), { migrations: later('alter workspaces\n  owner') })).rejects.toThrow(
    'workspaces.owner: existing rows need a value',
  );
});
