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

/**
 * Merges the log into the file and leaves WAL mode, which works only while nobody else has the database open: why it does
 * not, or nothing. A file that is too damaged to be opened is in nobody's use.
 */
export function claimDatabaseFile(path: string): string | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: 1_000 });
    const row = db.prepare('pragma journal_mode = delete').get() as { journal_mode: string };
    return row.journal_mode === 'delete' ? undefined : 'another program has it open';
  } catch (error) {
    return /locked|busy/i.test((error as Error).message) ? 'another program has it open' : undefined;
  } finally {
    db?.close();
  }
}
