import { existsSync } from 'node:fs';

export type SqliteRow = Readonly<Record<string, unknown>>;

/** Another program's database, which is only read. */
export interface ForeignStore {
  all(statement: string, ...parameters: (string | number)[]): SqliteRow[];
  close(): void;
}

/** `too-old`: this Node cannot read SQLite. Undefined: there is no such database, or none that can be read now. */
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

/** Only when a store is there to be read, and only where Node has it: from 22.5 on. */
async function driver(): Promise<Partial<typeof import('node:sqlite')>> {
  const { emitWarning } = process;
  // On some versions Node warns that this part of it is experimental, in the middle of what we print.
  process.emitWarning = () => {};
  try {
    return await import('node:sqlite');
  } catch {
    return {};
  } finally {
    process.emitWarning = emitWarning;
  }
}
