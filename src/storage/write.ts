import type { Control, Db, Engine } from './engine.ts';
import { StoreClosed, WriteWithdrawn } from './errors.ts';
import { JournalBatch, type NewEvent, readEnd } from './journal.ts';

/**
 * The argument of a write callback. Only `tx` may be awaited inside it: no git, child process, network or timer, because every other writer of the
 * workspace is waiting, and because the callback may run again after a deadlock.
 */
export interface Tx {
  readonly db: Db;
  readonly workspace: string;
  readonly now: number;
  /** Commits with the state change, or not at all. Returns the event's `seq`. */
  append(event: NewEvent): number;
  /** Locks a resource against writers of other workspaces until the commit. Take it last: a holder must not wait for anything else. */
  lock(resource: string): Promise<void>;
}

export type WriteCallback<T> = (tx: Tx) => Promise<T>;

interface Job {
  run: WriteCallback<unknown>;
  /** True if the job only appends events: it changes no other table, so it needs no savepoint. */
  appendOnly: boolean;
  signal: AbortSignal | undefined;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Outcome = { value: unknown } | { error: unknown };

/** The maximum number of callbacks that share a commit. Limits how long the first of them waits. */
const BATCH = 256;

/**
 * The only way to write. Callbacks wait in a queue for each workspace and run one after another, each in a savepoint of one transaction. They are
 * acknowledged together after that transaction was durably committed. Callbacks that arrive during the commit form the next batch.
 */
export class Writer {
  readonly #engine: Engine;
  readonly #now: () => number;
  readonly #committed: (workspace: string) => void;
  readonly #queues = new Map<string, Job[]>();
  readonly #draining = new Set<Promise<void>>();
  #closed = false;

  constructor(engine: Engine, now: () => number, committed: (workspace: string) => void) {
    this.#engine = engine;
    this.#now = now;
    this.#committed = committed;
  }

  write<T>(workspace: string, run: WriteCallback<T>, signal?: AbortSignal): Promise<T> {
    return this.#enqueue(workspace, run, false, signal);
  }

  append(workspace: string, events: readonly NewEvent[]): Promise<number> {
    const run = async (tx: Tx) => {
      let seq = 0;
      for (const event of events) seq = tx.append(event);
      return seq;
    };
    return this.#enqueue(workspace, run, true, undefined);
  }

  /** Refuses new writes and waits until accepted ones are answered. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#draining.size > 0) await Promise.all(this.#draining);
  }

  #enqueue<T>(workspace: string, run: WriteCallback<T>, appendOnly: boolean, signal: AbortSignal | undefined): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreClosed('the store is closed'));
    return new Promise<T>((resolve, reject) => {
      const job: Job = { run, appendOnly, signal, resolve: resolve as (value: unknown) => void, reject };
      signal?.addEventListener('abort', () => this.#withdraw(workspace, job), { once: true });
      const queue = this.#queues.get(workspace);
      if (queue) {
        queue.push(job);
        return;
      }
      this.#queues.set(workspace, [job]);
      const drain = this.#drain(workspace).finally(() => this.#draining.delete(drain));
      this.#draining.add(drain);
    });
  }

  /** A caller that leaves while it waits is answered immediately instead of at its turn. */
  #withdraw(workspace: string, job: Job): void {
    const queue = this.#queues.get(workspace) ?? [];
    const place = queue.indexOf(job);
    if (place < 0) return;
    queue.splice(place, 1);
    if (job.signal) job.reject(withdrawn(job.signal));
  }

  async #drain(workspace: string): Promise<void> {
    const queue = this.#queues.get(workspace) ?? [];
    while (queue.length > 0) {
      // Let every request that the event loop has already read join this batch.
      await new Promise<void>((resolve) => setImmediate(resolve));
      const batch = queue.splice(0, BATCH);
      if (batch.length > 0) await this.#commit(workspace, batch);
    }
    this.#queues.delete(workspace);
  }

  async #commit(workspace: string, jobs: readonly Job[]): Promise<void> {
    let outcomes: Outcome[];
    try {
      outcomes = await this.#engine.transaction(workspace, async (db, control) => {
        const journal = new JournalBatch(workspace, await readEnd(db, workspace), this.#now);
        const tx: Tx = { db, workspace, now: this.#now(), append: (event) => journal.append(event), lock: (resource) => this.#engine.lock(db, resource) };
        const turns = new Turns(this.#engine, control, tx, journal, jobs.length === 1);
        const results: Outcome[] = [];
        for (const job of jobs) results.push(await turns.take(job));
        await journal.insert(this.#engine, db);
        return results;
      });
    } catch (error) {
      const reason = error instanceof Undone ? error.cause : error;
      for (const job of jobs) job.reject(reason);
      return;
    }
    for (const [index, job] of jobs.entries()) {
      const outcome = outcomes[index] as Outcome;
      if ('error' in outcome) job.reject(outcome.error);
      else job.resolve(outcome.value);
    }
    this.#committed(workspace);
  }
}

const withdrawn = (signal: AbortSignal): WriteWithdrawn => new WriteWithdrawn('withdrawn before its turn', { cause: signal.reason });

/** A callback that was alone in its transaction has failed, and all of it is undone. */
class Undone extends Error {}

/** The callbacks of one transaction, one after another. */
class Turns {
  readonly #engine: Engine;
  readonly #control: Control;
  readonly #tx: Tx;
  readonly #journal: JournalBatch;
  readonly #isAlone: boolean;
  #isMarked = false;

  constructor(engine: Engine, control: Control, tx: Tx, journal: JournalBatch, isAlone: boolean) {
    this.#engine = engine;
    this.#control = control;
    this.#tx = tx;
    this.#journal = journal;
    this.#isAlone = isAlone;
  }

  async take(job: Job): Promise<Outcome> {
    if (job.signal?.aborted) return { error: withdrawn(job.signal) };
    const length = this.#journal.length;
    if (!job.appendOnly && !this.#isAlone) this.#mark();
    try {
      const value = await job.run(this.#tx);
      const hidden = this.#control.failure();
      if (hidden) throw hidden;
      return { value };
    } catch (error) {
      this.#journal.truncate(length);
      if (job.appendOnly) return { error };
      // The whole batch is run again or refused: one callback alone can no longer be undone.
      if (this.#engine.endsTransaction(error)) throw error;
      const typed = this.#engine.typed(error);
      if (this.#isAlone) throw new Undone('undone', { cause: typed });
      await this.#control.send('rollback to savepoint job');
      return { error: typed };
    }
  }

  /** Not awaited, because it is sent together with the callback's first statement. If it fails, that statement fails too. */
  #mark(): void {
    const marked = this.#control.send(this.#isMarked ? 'release savepoint job; savepoint job' : 'savepoint job');
    marked.catch(() => {});
    this.#isMarked = true;
  }
}
