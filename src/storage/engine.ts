import type { Kysely } from 'kysely';
import type { Database } from './database.ts';
import type { EventRow } from './tables.ts';

/** A connection, or the connection of a running transaction: store queries take either. */
export type Db = Kysely<Database>;

/** What every call is checked against. */
export const ACCESS_TABLES = ['tokens', 'developers', 'grants'] as const;

export type EngineKind = 'sqlite' | 'postgres';

/** What the two databases do differently. Nothing outside `storage/` knows which one it talks to. */
export interface Engine {
  readonly kind: EngineKind;
  /** Committed rows only: never the connection that writes. */
  readonly reader: Db;
  /** One transaction that excludes every other writer of `workspace`, in this process and in others. */
  transaction<T>(workspace: string, work: (db: Db) => Promise<T>): Promise<T>;
  insertEvents(db: Db, rows: readonly EventRow[]): Promise<void>;
  /** Tells other processes, as part of the running transaction, that `workspace` has news. */
  announce(db: Db, workspace: string): Promise<void>;
  /** Calls back when another process may have written. Only a hint: readers read by `seq`. */
  onForeignWrite(listener: () => void): () => void;
  /** Changes whenever anything of `ACCESS_TABLES` may have; undefined where that cannot be told without a query. */
  accessStamp(): string | undefined;
  /** One line per table, column, index and constraint, in a fixed order. */
  dumpSchema(): Promise<string>;
  close(): Promise<void>;
}
