import type { Kysely } from 'kysely';
import type { Database, EventRow, JournalHeadRow } from './schema-rows.ts';

/** A connection, or the connection of a running transaction: store queries take either. */
export type Db = Kysely<Database>;

/** The tables that every call is checked against. */
export const ACCESS_TABLES = ['tokens', 'developers', 'grants', 'machine_permissions'] as const;

export type EngineKind = 'sqlite' | 'postgres';

/**
 * Reads what calls are checked against. What was read is remembered for exactly as long as nothing of `ACCESS_TABLES` can have changed, here or
 * in another process: a revocation must hold from the next call on.
 */
export interface AccessReads {
  get<T>(key: string, load: () => Promise<T>): Promise<T>;
}

/** Control over a running transaction as a whole. */
export interface Control {
  /** A statement without parameters. It need not be awaited: it is carried out before whatever is asked for after it. */
  send(statement: string): Promise<void>;
  /** The error by which the database refuses all that follows, until it is rolled back, whether or not the callback told of it. */
  failure(): unknown;
}

/** Everything that differs between the two databases. Nothing outside `storage/` knows which one it uses. */
export interface Engine {
  readonly kind: EngineKind;
  /** Committed rows only: never the connection that writes. */
  readonly reader: Db;
  /** One transaction that excludes every other writer of `workspace`, in this process and in others. */
  transaction<T>(workspace: string, work: (db: Db, control: Control) => Promise<T>): Promise<T>;
  /** Until the transaction ends, no other one that has called this for the same resource goes on: for what several workspaces share. */
  lock(db: Db, resource: string): Promise<void>;
  /** A driver's error as one of ours, where it is one that callers should be told apart. */
  typed(error: unknown): unknown;
  /** Whether the error ended the whole transaction, so that it must be run again or refused as a whole. */
  endsTransaction(error: unknown): boolean;
  /** As part of the running transaction: inserts the events, moves the head, and tells other processes of it. */
  appendEvents(db: Db, rows: readonly EventRow[], head: JournalHeadRow): Promise<void>;
  /** Calls back when another process may have written. Only a hint: readers read by `seq`. */
  onForeignWrite(listener: () => void): () => void;
  readonly access: AccessReads;
  /** As an unqualified name would find it: another program may have a table of that name in a schema of its own. */
  hasTable(db: Db, name: string): Promise<boolean>;
  /** One line per table, column, index and constraint, in a fixed order. */
  dumpSchema(): Promise<string>;
  close(): Promise<void>;
}
