import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { covibeHome, readJson, replaceFile } from '../../../wire/covibe-home.ts';
import { recordOf } from '../../../wire/json.ts';
import type { Cursor, UsageBatch, UsageEvent } from '../usage-readers/usage-batch.ts';
import { type Lock, takeLock } from './lock.ts';

interface LedgerState {
  /** Uses before this moment are not reported. */
  readonly since: number;
  readonly cursors: Readonly<Record<string, Cursor>>;
  /** The events that were read but not yet delivered. */
  readonly pending: readonly UsageEvent[];
  /** The ids of the events that were delivered or refused most recently. */
  readonly settled: readonly string[];
  /** The server's reasons for the refused events, by event id. */
  readonly refused: Readonly<Record<string, string>>;
  readonly sent: number;
}

/** The maximum number of pending events for each store. At this limit, the store is not read until some of its events are delivered. */
const MAX_PENDING = 1_000;
const MAX_SETTLED = 5_000;

/**
 * Records which usage of this machine was reported to one server. A single file contains the cursors of the stores and the events that were read up to them.
 * The file is always replaced as a whole. So every event is in its store, in the ledger or settled, and after a crash the next process continues from the
 * file. An event that was sent but not yet settled is sent again, and the server counts the same payload only once.
 */
export class Ledger {
  readonly #path: string;
  readonly #lock: Lock;
  #kept: LedgerState;
  /** The ids of settled events. The file contains only the latest ids. In memory none is dropped, so that no event is taken twice while the ledger is open. */
  readonly #settled: Set<string>;

  constructor(path: string, lock: Lock, kept: LedgerState) {
    this.#path = path;
    this.#lock = lock;
    this.#kept = kept;
    this.#settled = new Set(kept.settled);
  }

  get pending(): readonly UsageEvent[] {
    return this.#kept.pending;
  }

  get sent(): number {
    return this.#kept.sent;
  }

  get since(): number {
    return this.#kept.since;
  }

  cursor(source: string): Cursor {
    return this.#kept.cursors[source] ?? {};
  }

  /**
   * Reads the events of a store into the ledger. When this method returns, the events and the cursor are on disk. `about` contains fields that all these
   * events share. Returns whether the ledger is full. In that case the caller has to settle pending events and read again.
   */
  async take(source: string, read: (batch: UsageBatch, cursor: Cursor) => Promise<Cursor> | Cursor, about: Partial<UsageEvent> = {}): Promise<boolean> {
    const waiting = new Set(this.pending.map(({ id }) => id));
    // The limit applies to each store separately, so that a store whose agent has no valid token does not block the others.
    const before = this.pending.filter(({ store }) => store === source).length;
    const taken: UsageEvent[] = [];
    const batch: UsageBatch = {
      since: this.#kept.since,
      full: () => before + taken.length >= MAX_PENDING,
      put: (event) => {
        if (waiting.has(event.id) || this.#settled.has(event.id)) return;
        waiting.add(event.id);
        taken.push({ ...event, ...about, store: source });
      },
    };
    const from = this.cursor(source);
    const to = await read(batch, from);
    if (taken.length > 0 || !isSame(to, from)) this.#keep({ cursors: { ...this.#kept.cursors, [source]: to }, pending: [...this.pending, ...taken] });
    return batch.full();
  }

  note(source: string, cursor: Cursor): void {
    if (!isSame(cursor, this.cursor(source))) this.#keep({ cursors: { ...this.#kept.cursors, [source]: cursor } });
  }

  reasonOf(id: string): string | undefined {
    return this.#kept.refused[id];
  }

  /** Marks events as settled, so that they are not sent again. `refused` contains the reasons for the events that the server will never accept. */
  settle(ids: ReadonlySet<string>, refused: Readonly<Record<string, string>>): void {
    const settled = [...this.#kept.settled, ...ids].slice(-MAX_SETTLED);
    const known = new Set(settled);
    for (const id of ids) this.#settled.add(id);
    this.#keep({
      pending: this.pending.filter(({ id }) => !ids.has(id)),
      settled,
      refused: Object.fromEntries(Object.entries({ ...this.#kept.refused, ...refused }).filter(([id]) => known.has(id))),
      sent: this.#kept.sent + ids.size - Object.keys(refused).length,
    });
  }

  close(): void {
    this.#lock.release();
  }

  #keep(changed: Partial<LedgerState>): void {
    this.#kept = { ...this.#kept, ...changed };
    replaceFile(this.#path, JSON.stringify(this.#kept));
    this.#lock.renew();
  }
}

const isSame = (one: Cursor, other: Cursor): boolean => JSON.stringify(one) === JSON.stringify(other);

const pathOf = (env: NodeJS.ProcessEnv, origin: string): string => join(covibeHome(env), 'ledger', `${origin.replace(/[^A-Za-z0-9.-]+/g, '_')}.json`);

interface LedgerOptions {
  readonly now: number;
  /** Also reports usage since this moment, even if the ledger was started later. */
  readonly since?: number | undefined;
  /** The time from which usage counts if the ledger is new. Default: now, because earlier usage is reported only on request. */
  readonly begins?: number | undefined;
}

/** Opens the ledger of a server and locks it. If another process has locked the ledger, returns the id of that process. */
export function openLedger(env: NodeJS.ProcessEnv, origin: string, { now, since, begins = now }: LedgerOptions): Ledger | { readonly heldBy: number } {
  const path = pathOf(env, origin);
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
  const lock = takeLock(`${path}.lock`);
  if ('heldBy' in lock) return lock;
  const kept = keptIn(readJson(path));
  const ledger = new Ledger(
    path,
    lock,
    kept && (since === undefined || since >= kept.since) ? kept : { ...EMPTY, ...kept, since: since ?? begins, cursors: {} },
  );
  // Stores the start time of a new ledger immediately, even if nothing is read yet.
  if (!kept) ledger.settle(new Set(), {});
  return ledger;
}

const EMPTY: Omit<LedgerState, 'since'> = { cursors: {}, pending: [], settled: [], refused: {}, sent: 0 };

function keptIn(value: unknown): LedgerState | undefined {
  const { since, cursors, pending, settled, refused, sent } = (recordOf(value) ?? {}) as Partial<LedgerState>;
  if (typeof since !== 'number' || !recordOf(cursors) || !Array.isArray(pending) || !Array.isArray(settled)) return undefined;
  return { ...EMPTY, since, cursors: cursors ?? {}, pending, settled, refused: refused ?? {}, sent: sent ?? 0 };
}
