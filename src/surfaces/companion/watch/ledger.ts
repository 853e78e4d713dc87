import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { covibeHome, readJson, replaceFile } from '../../../wire/covibe-home.ts';
import { recordOf } from '../../../wire/json.ts';
import type { Cursor, UsageBatch, UsageEvent } from '../usage-readers/usage-batch.ts';
import { type Lock, takeLock } from './lock.ts';

interface LedgerState {
  /** Uses before this moment are nobody's business here. */
  readonly since: number;
  readonly cursors: Readonly<Record<string, Cursor>>;
  /** Read, and not yet delivered. */
  readonly pending: readonly UsageEvent[];
  /** The ids that were delivered or refused last. */
  readonly settled: readonly string[];
  /** Why the server did not take those of them that it refused, by id. */
  readonly refused: Readonly<Record<string, string>>;
  readonly sent: number;
}

/** Of one store. Beyond this nothing is read of it until something is delivered: the store keeps it, and the cursor waits. */
const MAX_PENDING = 1_000;
const MAX_SETTLED = 5_000;

/**
 * What of this machine's usage one server was told. The cursors of the stores and the events that were read up to them are one file, replaced whole: so
 * an event is in the store, in the ledger, or settled, and whoever is killed in between goes on where the file says. An event that was sent and not yet
 * settled is sent again; the server counts the same payload once.
 */
export class Ledger {
  readonly #path: string;
  readonly #lock: Lock;
  #kept: LedgerState;
  /** On disk the last ones are kept; here all, so that nothing is taken twice while it is open. */
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
   * Reads into the ledger; what was read and how far is on disk when it returns. `about`: what is known of all of it. Whether there was no room for
   * more: whoever settles what waits and reads once more comes to an end, as each time gives others.
   */
  async take(source: string, read: (batch: UsageBatch, cursor: Cursor) => Promise<Cursor> | Cursor, about: Partial<UsageEvent> = {}): Promise<boolean> {
    const waiting = new Set(this.pending.map(({ id }) => id));
    // Each store has its own room: one whose agent has no good token fills its own alone.
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

  /** Stores a source's cursor. */
  note(source: string, cursor: Cursor): void {
    if (!isSame(cursor, this.cursor(source))) this.#keep({ cursors: { ...this.#kept.cursors, [source]: cursor } });
  }

  reasonOf(id: string): string | undefined {
    return this.#kept.refused[id];
  }

  /** These were told to the server. `refused`: it will never take them, and why. */
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
  /** Back to this moment, also where it was begun later. */
  readonly since?: number | undefined;
  /** From when on uses count where nothing was said before; default: now. What a machine did before is not reported unasked. */
  readonly begins?: number | undefined;
}

/** The process that has it, where another one has. */
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
  // From now on it is known from when on uses count, also if nothing is read today.
  if (!kept) ledger.settle(new Set(), {});
  return ledger;
}

const EMPTY: Omit<LedgerState, 'since'> = { cursors: {}, pending: [], settled: [], refused: {}, sent: 0 };

function keptIn(value: unknown): LedgerState | undefined {
  const { since, cursors, pending, settled, refused, sent } = (recordOf(value) ?? {}) as Partial<LedgerState>;
  if (typeof since !== 'number' || !recordOf(cursors) || !Array.isArray(pending) || !Array.isArray(settled)) return undefined;
  return { ...EMPTY, since, cursors: cursors ?? {}, pending, settled, refused: refused ?? {}, sent: sent ?? 0 };
}
