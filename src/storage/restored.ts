import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { openSqlite } from './sqlite.ts';

/** What SQLite makes for itself. */
const OWN = /^sqlite_(autoindex_|stat[14]$|sequence$)/;

/**
 * What a file's schema has besides, or otherwise than, the migrations that it names would have made it: a trigger or a view runs with every
 * statement of the server. The first few, for people; empty where it is sound.
 */
export async function strangeObjects(path: string): Promise<string[]> {
  const found = objectsIn(path);
  const expected = await objectsOfVersion(versionOf(path));
  const extra = [...found].flatMap(([name, sql]) =>
    expected.has(name) ? (expected.get(name) === sql ? [] : [`${name}, which is not as it was made`]) : [name],
  );
  const missing = [...expected.keys()].flatMap((name) => (found.has(name) ? [] : [`no ${name}`]));
  return [...extra, ...missing].slice(0, 5);
}

function objectsIn(path: string): Map<string, string> {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = db.prepare('select type, name, sql from sqlite_master').all() as { type: string; name: string; sql: string | null }[];
    return new Map(rows.flatMap(({ type, name, sql }) => (OWN.test(name) ? [] : [[`${type} ${name}`, sql ?? '']])));
  } finally {
    db.close();
  }
}

function versionOf(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return Number((db.prepare('select max(number) as version from schema_migrations').get() as { version: number | null }).version);
  } finally {
    db.close();
  }
}

async function objectsOfVersion(version: number): Promise<Map<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-schema-'));
  const path = join(folder, 'schema.db');
  try {
    const engine = openSqlite(path);
    try {
      await migrate(
        engine,
        () => 0,
        MIGRATIONS.filter(({ number }) => number <= version),
      );
    } finally {
      await engine.close();
    }
    return objectsIn(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export type StoredToken = Pick<Database['tokens'], 'workspace_id' | 'id' | 'hash' | 'kind' | 'label' | 'revoked_at' | 'expires_at'> &
  // A file of an earlier version does not have them.
  Partial<Pick<Database['tokens'], 'previous_hash' | 'previous_ends_at'>>;

/** The tokens of a database file, of whichever version; undefined where they cannot be read. */
export function tokensIn(path: string): StoredToken[] | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    return db.prepare('select * from tokens').all() as unknown as StoredToken[];
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}
