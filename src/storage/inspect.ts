import { DatabaseSync } from 'node:sqlite';
import { SCHEMA_VERSION, whyObsolete } from './migrate.ts';

/** `older` is not a fault, because the next start migrates the file. An `obsolete` file is too old to be migrated. */
type FileTrouble = 'damaged' | 'foreign' | 'newer' | 'older' | 'obsolete' | 'busy';

export interface DatabaseFile {
  readonly trouble: FileTrouble | undefined;
  /** Describes the trouble. Empty if there is none. */
  readonly message: string;
  /** When its first table was created. */
  readonly madeAt: number | null;
}

/** `whole` checks every page and index. `quick` checks every page. `look` only identifies the file. */
export type InspectionDepth = 'whole' | 'quick' | 'look';
const PRAGMAS = { whole: 'integrity_check', quick: 'quick_check' } as const;

/** Checks whether a SQLite file is a valid Covenant database. Does not change the file. */
export function inspectDatabaseFile(path: string, depth: InspectionDepth): DatabaseFile {
  let db: DatabaseSync | undefined;
  const found = (trouble: FileTrouble | undefined, message = '', madeAt: number | null = null): DatabaseFile => ({ trouble, message, madeAt });
  try {
    db = new DatabaseSync(path, { readOnly: true });
    if (depth !== 'look') {
      const result = Object.values(db.prepare(`pragma ${PRAGMAS[depth]}(1)`).get() as Record<string, string>)[0];
      if (result !== 'ok') return found('damaged', `damaged: ${result?.replaceAll('\n', ' ')}`);
    }
    const { version, made } = db.prepare('select max(number) as version, min(applied_at) as made from schema_migrations').get() as {
      version: number | null;
      made: number | null;
    };
    if (version === null) return found('foreign', 'it contains no Covenant schema');
    if (version > SCHEMA_VERSION) return found('newer', `it has schema ${version}, but this program only knows ${SCHEMA_VERSION}`, made);
    const obsolete = whyObsolete(version);
    if (obsolete !== undefined) return found('obsolete', obsolete, made);
    if (version < SCHEMA_VERSION) return found('older', `it has schema ${version}, which the next start migrates to ${SCHEMA_VERSION}`, made);
    return found(undefined, '', made);
  } catch (error) {
    return found(...faultOf(error));
  } finally {
    db?.close();
  }
}

/** Translates SQLite's error number, because the messages of SQLite do not help an operator. */
function faultOf(error: unknown): [FileTrouble, string] {
  const [BUSY, LOCKED, CORRUPT, CANNOT_OPEN, NOT_A_DATABASE] = [5, 6, 11, 14, 26];
  const { errcode = 0, message } = error as { errcode?: number; message: string };
  const primary = errcode & 0xff;
  if (primary === BUSY || primary === LOCKED) return ['busy', 'another program has it open'];
  if (primary === NOT_A_DATABASE) return ['damaged', 'it is not a SQLite database'];
  if (primary === CORRUPT) return ['damaged', 'it is damaged and cannot be read'];
  if (primary === CANNOT_OPEN) return ['damaged', 'it cannot be opened'];
  if (/no such table/.test(message)) return ['foreign', 'it contains no Covenant schema'];
  return ['damaged', 'it cannot be read'];
}

/** Returns why a SQLite file cannot be used as the database, or undefined if it can. Does not change the file. */
export async function checkDatabaseFile(path: string): Promise<string | undefined> {
  const { trouble, message } = inspectDatabaseFile(path, 'whole');
  return trouble === undefined || trouble === 'older' ? undefined : message;
}

/** A write by Covenant never locks the database for this long. */
const HELD_MS = 2_000;

/** Whether another program holds the database's write lock. Writes nothing. */
export function isWriteLocked(path: string): boolean {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: HELD_MS });
    db.exec('begin immediate; rollback');
    return false;
  } catch (error) {
    return faultOf(error)[0] === 'busy';
  } finally {
    db?.close();
  }
}

/**
 * Merges the write-ahead log into the file and leaves WAL mode. This works only if no other program has the database open. Returns the reason for a failure,
 * or undefined. A file that is too damaged to be opened counts as not in use.
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
