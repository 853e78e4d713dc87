import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations/index.ts';
import type { Database } from './schema-rows.ts';
import { openSqlite } from './sqlite.ts';

/**
 * Compares the schema of a file with the schema that its migrations produce, because a trigger that someone added would run with the server's statements.
 * Returns a readable list of the first differences, or an empty list.
 */
export async function strangeObjects(path: string): Promise<string[]> {
  const found = objectsIn(path);
  const expected = await objectsOfVersion(versionOf(path));
  const extra = [...found].flatMap(([name, sql]) => (expected.has(name) ? (expected.get(name) === sql ? [] : [`${name}, which was changed`]) : [name]));
  const missing = [...expected.keys()].flatMap((name) => (found.has(name) ? [] : [`no ${name}`]));
  return [...extra, ...missing].slice(0, 5);
}

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

const OWN_TABLE = /^CREATE TABLE sqlite_(stat1\(tbl,idx,stat\)|stat4\(tbl,idx,neq,nlt,ndlt,sample\)|sequence\(name,seq\))$/;

/** Whether SQLite created the object by itself. The name alone proves nothing, because an attacker can give the same name to a trigger. */
const isOwn = ({ type, name, sql }: SchemaObject): boolean =>
  (type === 'index' && sql === null && name.startsWith('sqlite_autoindex_')) || (type === 'table' && OWN_TABLE.test(sql ?? ''));

function objectsIn(path: string): Map<string, string> {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = db.prepare('select type, name, tbl_name, sql from sqlite_master').all() as unknown as SchemaObject[];
    const found = new Map<string, string>();
    for (const row of rows) {
      const key = `${row.type} ${row.name}`;
      // If two objects have the same name, their texts are joined, so that they cannot match the original.
      if (!isOwn(row)) found.set(key, `${found.get(key) ?? ''}${row.tbl_name}\n${row.sql}\n`);
    }
    return found;
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

export type StoredToken = Pick<
  Database['tokens'],
  'workspace_id' | 'id' | 'hash' | 'kind' | 'developer_id' | 'agent_type' | 'label' | 'revoked_at' | 'expires_at'
> &
  // Files from earlier versions lack these columns.
  Partial<Pick<Database['tokens'], 'instance_id' | 'previous_hash' | 'previous_ends_at'>>;

/** Reads the tokens of a database file of any version. Returns undefined if they cannot be read. */
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
