import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, startOf } from '../../../machine/process/group.ts';
import { covibeHome, readJson, replaceFile } from '../../../wire/covibe-home.ts';
import { recordOf } from '../../../wire/json.ts';
import type { Cursor, UsageBatch, UsageEvent } from '../usage-readers/usage-batch.ts';

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

  /** What has become of that which was read up to a cursor. */
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

/** Longer than any holder works without a sign: one that is older was left by a machine that went down, and its number is somebody else's now. */
const STALE_MS = 10 * 60_000;

interface Lock {
  /** So that it is not taken for one that was left behind. */
  renew(): void;
  release(): void;
}

/** At most one holder on this machine. The other's process id where somebody has it. */
export function takeLock(path: string): Lock | { readonly heldBy: number } {
  const mine = `${process.pid}:${startOf(process.pid)}:${Math.random().toString(36).slice(2)}`;
  for (;;) {
    if (created(path, mine)) {
      const isMine = () => contentOf(path) === mine;
      return { renew: () => isMine() && writeFileSync(path, mine), release: () => isMine() && rmSync(path, { force: true }) };
    }
    const holder = holderOf(path);
    // It was released in between: once more.
    if (holder === undefined) continue;
    if (!isLeft(path, holder)) return { heldBy: Number(holder.split(':')[0]) };
    takeAway(path, holder);
  }
}

/** Whole from the first moment: a name is given to a file that has its content already. */
function created(path: string, mine: string): boolean {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, mine, { mode: 0o600 });
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function isLeft(path: string, holder: string): boolean {
  const [pid = 0, started = 0] = holder.split(':').map(Number);
  if (!Number.isInteger(pid) || pid <= 1 || !answers(pid) || startOf(pid) !== started) return true;
  const changedAt = orNothing(() => statSync(path).mtimeMs);
  return changedAt !== undefined && Date.now() - changedAt > STALE_MS;
}

/** Of two who find the same lock left behind, one moves it away; the other may have moved the new one, and puts it back. */
function takeAway(path: string, left: string): void {
  const aside = `${path}.${process.pid}.left`;
  if (orNothing(() => renameSync(path, aside) ?? true) === undefined) return;
  if (contentOf(aside) !== left) orNothing(() => linkSync(aside, path));
  rmSync(aside, { force: true });
}

/** Undefined where there is none. One that cannot be looked at is somebody's: whoever waited for it to go would wait for ever. */
function holderOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const contentOf = (path: string): string | undefined => orNothing(() => readFileSync(path, 'utf8'));

function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
