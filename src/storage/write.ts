import type { Control, Db, Engine } from './engine.ts';
import { StoreClosed, WriteWithdrawn } from './errors.ts';
import { JournalBatch, type NewEvent, readEnd } from './journal.ts';

/**
 * What a write callback receives. Inside the callback, await only methods of `tx`, never git, a child process, the network or a timer. All other writers of
 * the workspace are waiting, and after a deadlock the callback runs again.
 */
export interface Tx {
  readonly db: Db;
  readonly workspace: string;
  readonly now: number;
  /** Adds an event to the journal. It is committed in the same transaction as the other changes. Returns the event's `seq`. */
  append(event: NewEvent): number;
  /**
   * Locks a resource that several workspaces share, until the commit. Call this last, because a transaction that has the lock must not wait for another lock.
   */
  lock(resource: string): Promise<void>;
}

export type WriteCallback<T> = (tx: Tx) => Promise<T>;

interface Job {
  run: WriteCallback<unknown>;
  /** True if the callback only appends events. It then needs no savepoint, because it changes no other table. */
  appendOnly: boolean;
  signal: AbortSignal | undefined;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Outcome = { value: unknown } | { error: unknown };

/** The maximum number of callbacks in one transaction. It limits how long the first of them waits for the commit. */
const BATCH = 256;

/**
 * All writes to the database go through this class. Each workspace has a queue of callbacks. A batch of callbacks runs in one transaction, one after another,
 * each with its own savepoint. When the transaction is committed, all of them are acknowledged. Callbacks that arrive during the commit form the next batch.
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

  /** Refuses new writes, and waits until all accepted writes are answered. */
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

  /** Removes a job from the queue when its caller gives up, so that the caller is answered immediately. */
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
      // Wait for one turn of the event loop, so that requests that have already arrived join this batch.
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

/** Thrown to roll back the transaction when the only callback in it has failed. */
class Undone extends Error {}

/** Runs the callbacks of one transaction, one after another. */
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
      // The whole batch is repeated or refused, because this callback alone can no longer be undone.
      if (this.#engine.endsTransaction(error)) throw error;
      const typed = this.#engine.typed(error);
      if (this.#isAlone) throw new Undone('undone', { cause: typed });
      await this.#control.send('rollback to savepoint job');
      return { error: typed };
    }
  }

  /**
   * Sets a savepoint for the next callback. This is not awaited, because it is sent together with the callback's first statement. If it fails, that statement
   * fails too.
   */
  #mark(): void {
    const marked = this.#control.send(this.#isMarked ? 'release savepoint job; savepoint job' : 'savepoint job');
    marked.catch(() => {});
    this.#isMarked = true;
  }
}
