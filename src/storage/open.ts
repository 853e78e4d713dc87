import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyDatabase } from './backup.ts';
import type { Db, Engine, EngineKind } from './engine.ts';
import { type JournalEvent, type NewEvent, readEvents } from './journal.ts';
import { inspectSchema, type Migration, migrate, SCHEMA_VERSION } from './migrate.ts';
import { type WriteCallback, Writer } from './write.ts';

/** A statement on a table that has grown large may take as long, and so may the wait for another server that migrates it. */
const MIGRATION_MS = 3_600_000;

export interface StoreOptions {
  /** `postgres://…`; without it SQLite at `path`. */
  url?: string | undefined;
  path: string;
  now: () => number;
  statementTimeoutMs: number;
  /** Another history than the program's own, for tests of migration itself. */
  migrations?: readonly Migration[];
}

export interface Store {
  readonly kind: EngineKind;
  readonly engine: Engine;
  readonly schemaVersion: number;
  /** Where the database was copied before it was migrated, if it was. */
  readonly backup: string | undefined;
  readonly reader: Db;
  readonly access: AccessMemo;
  write<T>(workspace: string, callback: WriteCallback<T>, signal?: AbortSignal): Promise<T>;
  append(workspace: string, events: readonly NewEvent[]): Promise<number>;
  /** Every event after `after`, in order, as they are committed, by whichever process, until `signal` aborts. */
  follow(workspace: string, after: number, signal: AbortSignal): AsyncGenerator<JournalPage>;
  close(): Promise<void>;
}

export async function openStore(options: StoreOptions): Promise<Store> {
  const { engine, backup } = options.url ? await openPostgresStore(options, options.url) : await openSqliteStore(options);
  const followed = new Followed(engine.reader);
  const closing = new AbortController();
  let closed: Promise<void> | undefined;
  const unsubscribe = engine.onForeignWrite(() => followed.ringAll());
  const writer = new Writer(engine, options.now, (workspace) => followed.ring(workspace));
  return {
    kind: engine.kind,
    engine,
    schemaVersion: SCHEMA_VERSION,
    backup,
    reader: engine.reader,
    access: new AccessMemo(engine),
    write: (workspace, callback, signal) => writer.write(workspace, callback, signal),
    append: (workspace, events) => writer.append(workspace, events),
    follow: (workspace, after, signal) => followed.follow(workspace, after, AbortSignal.any([signal, closing.signal])),
    close: () => (closed ??= close()),
  };

  async function close(): Promise<void> {
    await writer.close();
    unsubscribe();
    closing.abort();
    await engine.close();
  }
}

async function openSqliteStore({ path, now, migrations }: StoreOptions): Promise<{ engine: Engine; backup: string | undefined }> {
  // node:sqlite exists from Node 22.13 on; importing it lazily lets older Nodes say so in words.
  const { openSqlite } = await import('./sqlite.ts');
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const existed = existsSync(path);
  const engine = openSqlite(path);
  try {
    const { current, pending } = await inspectSchema(engine, engine.reader, migrations);
    let backup: string | undefined;
    if (existed && current > 0 && pending.length > 0) {
      backup = join(dirname(path), 'backups', `before-schema-${pending.at(-1)?.number}-${now()}.db`);
      await copyDatabase(path, backup);
    }
    if (pending.length > 0) await migrate(engine, now, migrations);
    return { engine, backup };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function openPostgresStore({ now, statementTimeoutMs, migrations }: StoreOptions, url: string): Promise<{ engine: Engine; backup: undefined }> {
  const { openPostgres } = await import('./postgres.ts');
  const engine = openPostgres({ url, statementTimeoutMs });
  try {
    const { pending } = await inspectSchema(engine, engine.reader, migrations);
    if (pending.length > 0) await migratePatiently();
    return { engine, backup: undefined };
  } catch (error) {
    await engine.close();
    throw error;
  }

  async function migratePatiently(): Promise<void> {
    const patient = openPostgres({ url, statementTimeoutMs: MIGRATION_MS });
    try {
      await migrate(patient, now, migrations);
    } finally {
      await patient.close();
    }
  }
}

const MAX_ENTRIES = 1_000;

/**
 * Remembers what was read of the access tables for exactly as long as nothing of them can have changed, here or in
 * another process. Revocation must hold from the next call on: where the engine cannot tell, nothing is remembered.
 */
class AccessMemo {
  readonly #engine: Engine;
  readonly #entries = new Map<string, unknown>();
  readonly #gathering = new Map<string, Promise<unknown>>();
  #stamp: string | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async get<T>(key: string, load: () => Promise<T>): Promise<T> {
    const stamp = this.#engine.accessStamp();
    if (stamp === undefined) return await this.#atOnce(key, load);
    if (stamp !== this.#stamp || this.#entries.size >= MAX_ENTRIES) {
      this.#entries.clear();
      this.#stamp = stamp;
    }
    if (this.#entries.has(key)) return this.#entries.get(key) as T;
    const value = await load();
    // What was loaded is at least as new as the stamp; if the stamp has moved on, the next call loads again.
    if (this.#stamp === stamp) this.#entries.set(key, value);
    return value;
  }

  /** Those who ask for the same in one turn of the event loop get one reading, which begins when all of them have asked. */
  #atOnce<T>(key: string, load: () => Promise<T>): Promise<T> {
    const gathering = this.#gathering.get(key);
    if (gathering) return gathering as Promise<T>;
    const reading = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#gathering.delete(key);
      return load();
    });
    this.#gathering.set(key, reading);
    return reading;
  }
}

/** A page of the journal, which all who stand at the same place get as one: not to be changed. */
export type JournalPage = readonly JournalEvent[];

const PAGE = 200;
/** Pages kept for others that come to the same place: those who catch up from far behind stand at many places. */
const KEPT_PAGES = 4;

/** What is followed of each workspace's journal, here and in any number of places at once. */
export class Followed {
  readonly #db: Db;
  readonly #workspaces = new Map<string, Tail>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** Something may have been committed. */
  ring(workspace: string): void {
    this.#workspaces.get(workspace)?.ring();
  }

  ringAll(): void {
    for (const tail of this.#workspaces.values()) tail.ring();
  }

  async *follow(workspace: string, after: number, signal: AbortSignal): AsyncGenerator<JournalPage> {
    const tail = this.#workspaces.get(workspace) ?? new Tail((place) => readEvents(this.#db, workspace, place, PAGE));
    this.#workspaces.set(workspace, tail);
    const wake = tail.join();
    signal.addEventListener('abort', wake.hear);
    try {
      for (let last = after; !signal.aborted; ) {
        // Taken before reading: a commit between the read and the wait must not be slept through.
        const rings = tail.rings;
        const page = await tail.read(last);
        const end = page.at(-1);
        if (end) {
          last = end.seq;
          yield page;
        } else if (tail.rings === rings && !signal.aborted) {
          await wake.heard();
        }
      }
    } finally {
      signal.removeEventListener('abort', wake.hear);
      if (tail.leave(wake) === 0) this.#workspaces.delete(workspace);
    }
  }
}

/**
 * One workspace's journal. What was read since it last rang is given to everybody who asks for the same: a commit that the
 * reading missed rings after it, and then nothing is kept of it.
 */
class Tail {
  readonly #load: (after: number) => Promise<JournalPage>;
  readonly #pages = new Map<number, Promise<JournalPage>>();
  readonly #followers = new Set<Wake>();
  #rings = 0;

  constructor(load: (after: number) => Promise<JournalPage>) {
    this.#load = load;
  }

  get rings(): number {
    return this.#rings;
  }

  join(): Wake {
    const wake = new Wake();
    this.#followers.add(wake);
    return wake;
  }

  /** How many are left. */
  leave(wake: Wake): number {
    this.#followers.delete(wake);
    return this.#followers.size;
  }

  ring(): void {
    this.#rings++;
    this.#pages.clear();
    for (const wake of this.#followers) wake.hear();
  }

  read(after: number): Promise<JournalPage> {
    const known = this.#pages.get(after);
    if (known) return known;
    const page = this.#load(after);
    this.#pages.set(after, page);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > KEPT_PAGES && oldest !== undefined) this.#pages.delete(oldest);
    // A failure is nobody else's: the next to ask reads anew.
    page.catch(() => this.#pages.get(after) === page && this.#pages.delete(after));
    return page;
  }
}

class Wake {
  #resolve: (() => void) | undefined;

  readonly hear = (): void => this.#resolve?.();

  async heard(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    this.#resolve = undefined;
  }
}
