import { DatabaseSync } from 'node:sqlite';
import { SCHEMA_VERSION } from './migrate.ts';

/** Why a SQLite file cannot serve as our database, or nothing. Reads only. */
export async function checkDatabaseFile(path: string): Promise<string | undefined> {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    const integrity = db.prepare('pragma integrity_check').get() as { integrity_check: string };
    if (integrity.integrity_check !== 'ok') return `damaged: ${integrity.integrity_check}`;
    const row = db.prepare('select max(number) as version from schema_migrations').get() as { version: number | null };
    if (row.version === null) return 'it holds no Covenant schema';
    if (row.version > SCHEMA_VERSION) return `it has schema ${row.version}, and this program knows ${SCHEMA_VERSION}`;
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    db?.close();
  }
}
