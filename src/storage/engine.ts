import type { Kysely } from 'kysely';
import type { Database, EventRow, JournalHeadRow } from './schema-rows.ts';

/** A connection, or the connection of a running transaction. Store queries accept either. */
export type Db = Kysely<Database>;

/** The tables that every call is checked against. */
export const ACCESS_TABLES = ['tokens', 'developers', 'grants', 'machine_permissions'] as const;

export type EngineKind = 'sqlite' | 'postgres';

/**
 * Reads the tables that calls are checked against. Results are cached only while none of `ACCESS_TABLES` can have changed, here or in another
 * process: a revocation must take effect with the next call.
 */
export interface AccessReads {
  get<T>(key: string, load: () => Promise<T>): Promise<T>;
}

/** Control over a running transaction as a whole. */
export interface Control {
  /** A statement without parameters. It need not be awaited: it runs before all later statements. */
  send(statement: string): Promise<void>;
  /** The error after which the database rejects everything until a rollback, whether or not the callback reported it. */
  failure(): unknown;
}

/** Everything that differs between the two databases. Nothing outside `storage/` knows which one is used. */
export interface Engine {
  readonly kind: EngineKind;
  /** Reads committed rows only, never through the writing connection. */
  readonly reader: Db;
  /** One transaction that excludes every other writer of `workspace`, in this process and in others. */
  transaction<T>(workspace: string, work: (db: Db, control: Control) => Promise<T>): Promise<T>;
  /** Locks a resource that several workspaces share. Until the transaction ends, no other transaction gets this lock. */
  lock(db: Db, resource: string): Promise<void>;
  /** Converts a driver's error into one of ours, if callers need to distinguish it. */
  typed(error: unknown): unknown;
  /** Whether the error ended the whole transaction, so that it must be run again or refused as a whole. */
  endsTransaction(error: unknown): boolean;
  /** As part of the running transaction: inserts the events, moves the head and notifies other processes. */
  appendEvents(db: Db, rows: readonly EventRow[], head: JournalHeadRow): Promise<void>;
  /** Calls back when another process may have written. Only a hint: readers read by `seq`. */
  onForeignWrite(listener: () => void): () => void;
  readonly access: AccessReads;
  /** Resolves the name like a name without a schema, because another program may have a table with that name in its own schema. */
  hasTable(db: Db, name: string): Promise<boolean>;
  /** One line per table, column, index and constraint, in a fixed order. */
  dumpSchema(): Promise<string>;
  close(): Promise<void>;
}
