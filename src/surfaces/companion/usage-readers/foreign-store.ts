import { existsSync } from 'node:fs';

export type SqliteRow = Readonly<Record<string, unknown>>;

/** Another program's database, opened read-only. */
export interface ForeignStore {
  all(statement: string, ...parameters: (string | number)[]): SqliteRow[];
  close(): void;
}

/** Opens a database. Returns `too-old` if this version of Node cannot read SQLite. Returns undefined if the database does not exist or cannot be read now. */
export async function openForeign(path: string): Promise<ForeignStore | 'too-old' | undefined> {
  if (!existsSync(path)) return undefined;
  const { DatabaseSync } = await driver();
  if (!DatabaseSync) return 'too-old';
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    database.exec('pragma busy_timeout = 1000');
    return { all: (statement, ...parameters) => database.prepare(statement).all(...parameters) as SqliteRow[], close: () => database.close() };
  } catch {
    return undefined;
  }
}

/** Loads Node's SQLite module only if there is a store to read. Node has this module since version 22.5. */
async function driver(): Promise<Partial<typeof import('node:sqlite')>> {
  const { emitWarning } = process;
  // Some Node versions print a warning that this module is experimental. It would appear in the middle of our output.
  process.emitWarning = () => {};
  try {
    return await import('node:sqlite');
  } catch {
    return {};
  } finally {
    process.emitWarning = emitWarning;
  }
}
