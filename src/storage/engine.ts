import type { Kysely } from 'kysely';
import type { Database, EventRow, JournalHeadRow } from './schema-rows.ts';

/** A database connection, either inside or outside a transaction. Store queries accept both. */
export type Db = Kysely<Database>;

/** To authorize a call, the server reads these tables. */
export const ACCESS_TABLES = ['tokens', 'developers', 'grants', 'machine_permissions'] as const;

export type EngineKind = 'sqlite' | 'postgres';

/**
 * Reads the tables that every call is checked against. A result is cached only while no process can have changed any of `ACCESS_TABLES`, because a revocation
 * must take effect with the next call.
 */
export interface AccessReads {
  get<T>(key: string, load: () => Promise<T>): Promise<T>;
}

/** Access to the running transaction itself, beside its queries. */
export interface Control {
  /** Sends a statement without parameters. Callers need not await it, because it runs before all later statements. */
  send(statement: string): Promise<void>;
  /** The error that broke the transaction, even if the callback caught it. After it, the database rejects every statement until a rollback. */
  failure(): unknown;
}

/** Everything that differs between SQLite and PostgreSQL. Code outside `storage/` does not depend on which of them is used. */
export interface Engine {
  readonly kind: EngineKind;
  /** A separate connection for reads. It sees committed rows only. */
  readonly reader: Db;
  /** Runs `work` in a transaction. Until it ends, no other writer can change `workspace`, neither in this process nor in another one. */
  transaction<T>(workspace: string, work: (db: Db, control: Control) => Promise<T>): Promise<T>;
  /** Locks a resource that several workspaces share. Until the transaction ends, no other transaction gets this lock. */
  lock(db: Db, resource: string): Promise<void>;
  /** Converts a driver error into a `StoreError` if callers must be able to recognize it. */
  typed(error: unknown): unknown;
  /** Whether the error ended the whole transaction. All work in the transaction must then be repeated or refused. */
  endsTransaction(error: unknown): boolean;
  /** Inserts the events, updates the journal head and notifies other processes, as part of the running transaction. */
  appendEvents(db: Db, rows: readonly EventRow[], head: JournalHeadRow): Promise<void>;
  /** Calls `listener` when another process may have written. This is only a hint: the listener must query for events with a higher `seq`. */
  onForeignWrite(listener: () => void): () => void;
  readonly access: AccessReads;
  /** Looks for the table only where an unqualified name would be found, because another program may have a table of the same name in its own schema. */
  hasTable(db: Db, name: string): Promise<boolean>;
  /** Returns one line for each table, column, index and constraint, in a fixed order. */
  dumpSchema(): Promise<string>;
  close(): Promise<void>;
}
