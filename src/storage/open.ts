import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyDatabase } from './backup.ts';
import type { Db, Engine, EngineKind } from './engine.ts';
import { type JournalEvent, type NewEvent, readEvents } from './journal.ts';
import { AccessMemo } from './memo.ts';
import { inspectSchema, type Migration, migrate, SCHEMA_VERSION } from './migrate.ts';
import { type WriteCallback, Writer } from './write.ts';

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
  follow(workspace: string, after: number, signal: AbortSignal): AsyncGenerator<JournalEvent[]>;
  close(): Promise<void>;
}

const PAGE = 200;

export async function openStore(options: StoreOptions): Promise<Store> {
  const { engine, backup } = options.url ? await openPostgresStore(options, options.url) : await openSqliteStore(options);
  const bells = new Bells();
  const closing = new AbortController();
  let closed: Promise<void> | undefined;
  const unsubscribe = engine.onForeignWrite(() => bells.ringAll());
  const writer = new Writer(engine, options.now, (workspace) => bells.ring(workspace));
  return {
    kind: engine.kind,
    engine,
    schemaVersion: SCHEMA_VERSION,
    backup,
    reader: engine.reader,
    access: new AccessMemo(engine),
    write: (workspace, callback, signal) => writer.write(workspace, callback, signal),
    append: (workspace, events) => writer.append(workspace, events),
    follow: (workspace, after, signal) => follow(engine.reader, bells, workspace, after, AbortSignal.any([signal, closing.signal])),
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
    if (pending.length > 0) await migrate(engine, now, migrations);
    return { engine, backup: undefined };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function* follow(db: Db, bells: Bells, workspace: string, after: number, signal: AbortSignal): AsyncGenerator<JournalEvent[]> {
  let last = after;
  const bell = bells.add(workspace);
  signal.addEventListener('abort', bell.ring);
  try {
    while (!signal.aborted) {
      // Silence the bell before reading: a commit between the read and the wait must not be slept through.
      bell.silence();
      const page = await readEvents(db, workspace, last, PAGE);
      const end = page.at(-1);
      if (end) {
        last = end.seq;
        yield page;
      } else {
        await bell.rung();
      }
    }
  } finally {
    signal.removeEventListener('abort', bell.ring);
    bells.remove(workspace, bell);
  }
}

/** Remembers that it was rung, so that a ring between two waits is not lost. */
class Bell {
  #ringing = false;
  #hear: (() => void) | undefined;

  readonly ring = (): void => {
    this.#ringing = true;
    this.#hear?.();
  };

  silence(): void {
    this.#ringing = false;
  }

  async rung(): Promise<void> {
    if (this.#ringing) return;
    await new Promise<void>((resolve) => {
      this.#hear = resolve;
    });
    this.#hear = undefined;
  }
}

class Bells {
  readonly #byWorkspace = new Map<string, Set<Bell>>();

  add(workspace: string): Bell {
    const bell = new Bell();
    const bells = this.#byWorkspace.get(workspace) ?? new Set();
    this.#byWorkspace.set(workspace, bells.add(bell));
    return bell;
  }

  remove(workspace: string, bell: Bell): void {
    this.#byWorkspace.get(workspace)?.delete(bell);
  }

  ring(workspace: string): void {
    for (const bell of this.#byWorkspace.get(workspace) ?? []) bell.ring();
  }

  ringAll(): void {
    for (const workspace of this.#byWorkspace.keys()) this.ring(workspace);
  }
}
