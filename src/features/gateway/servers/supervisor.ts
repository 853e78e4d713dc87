import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import { concealer } from './conceal.ts';
import type { UpstreamConnection } from './connection.ts';
import type { ServerState, ServerStatus } from './contract.ts';
import type { ServerEntry } from './entry.ts';
import { problemOf, type ServerHealth } from './failures.ts';
import { delayBefore, STEADY_MS } from './pauses.ts';
import { downRefusal } from './refusals.ts';

export interface SupervisorParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Connects to the server and reads its lists. */
  readonly open: (entry: ServerEntry, on: { lost(problem: string): void }, signal: AbortSignal) => Promise<UpstreamConnection>;
  /** Whether the catalogue of the server is stored. If it is, a lazy server does not have to start to be listed. */
  readonly isKnown: (server: string) => boolean;
  readonly changed: (supervisor: Supervisor, from: ServerState) => void;
  /** Resolves when the previous process has exited. The new process must wait, because the old one may still hold a lock or a port. */
  readonly free?: Promise<unknown>;
  readonly random?: () => number;
}

/** A server that has not started within this time counts as failed. */
const START_LIMIT_MS = 60_000;

const STOPPED = new Error('It was stopped.');

/** Keeps one server running. Starts it, restarts it after failures, and gives callers its connection or its problem. */
export class Supervisor {
  readonly #parts: SupervisorParts;
  #entry: ServerEntry;
  #state: ServerState = 'stopped';
  #problem: string | null = null;
  #since: number;
  #starts = 0;
  #failures = 0;
  #strikes = 0;
  #nextStartAt: number | null = null;
  #connection: UpstreamConnection | undefined;
  #launch: { readonly ended: Promise<void>; readonly giveUp: AbortController } | undefined;
  #callOff: (() => void) | undefined;
  readonly #closing = new Set<Promise<unknown>>();
  #restarting: Promise<void> | undefined;
  #ended = false;

  constructor(entry: ServerEntry, parts: SupervisorParts) {
    this.#entry = entry;
    this.#parts = parts;
    this.#since = parts.clock.now();
    if (parts.free) this.#closing.add(parts.free);
  }

  get entry(): ServerEntry {
    return this.#entry;
  }

  /** A changed entry needs no restart for most settings, because they are read on every call. */
  set entry(entry: ServerEntry) {
    this.#entry = entry;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The connection to the server. Undefined unless the server is up. */
  get connection(): UpstreamConnection | undefined {
    return this.#state === 'up' ? this.#connection : undefined;
  }

  status(): ServerStatus {
    return {
      state: this.#state,
      problem: this.#problem,
      pid: this.#connection?.pid ?? null,
      since: this.#since,
      restarts: Math.max(0, this.#starts - 1),
      next_start_at: this.#nextStartAt,
      protocol_version: this.#connection?.protocolVersion ?? null,
    };
  }

  /** Begins to start the server and does not wait for it. */
  start(): void {
    if (this.#entry.lazy && this.#parts.isKnown(this.#entry.name)) this.#move('wait');
    else this.#begin();
  }

  /** Restarts the server. Resolves when it is up or when the attempt has failed. */
  async restart(): Promise<void> {
    this.#restarting ??= this.#end().finally(() => {
      this.#restarting = undefined;
      this.#failures = 0;
      this.#begin();
    });
    await this.#restarting;
    await this.#launch?.ended;
  }

  async stop(): Promise<void> {
    this.#ended = true;
    this.#move('stop');
    await this.#end();
  }

  /** Returns the connection for a call. If the server is starting, waits for it. Throws if the server is down. */
  async connected(signal: AbortSignal): Promise<UpstreamConnection> {
    if (this.#state === 'up' && this.#connection) return this.#connection;
    if (this.#restarting) await orAborted(this.#restarting, signal);
    if (this.#state === 'idle') this.#begin();
    if (this.#state === 'starting' && this.#launch) await orAborted(this.#launch.ended, signal);
    if (this.connection) return this.connection;
    throw this.refusal();
  }

  refusal(): Error {
    const problem = this.#problem ?? (this.#state === 'stopped' ? 'It was stopped.' : 'It was not started.');
    return downRefusal(this.#entry.name, problem, this.#nextStartAt === null ? undefined : this.#nextStartAt - this.#parts.clock.now());
  }

  /** Records what a call has shown about the server. If the server returned an error, it did answer, so it is healthy. */
  judge(connection: UpstreamConnection, health: ServerHealth): void {
    if (connection !== this.#connection || this.#state !== 'up') return;
    if (health === 'well') this.#strikes = 0;
    else if (health === 'forgotten') this.#relaunch();
    else if (health === 'strike' && ++this.#strikes >= MAX_STRIKES) this.#fail(`It did not answer ${MAX_STRIKES} calls in a row.`);
  }

  /** Connects again without a delay, because the server works and only its session was lost. */
  #relaunch(): void {
    this.#dismiss();
    this.#begin();
  }

  #begin(): void {
    if (this.#launch || this.#ended || !this.#move('begin')) return;
    this.#callOff?.();
    this.#nextStartAt = null;
    this.#strikes = 0;
    this.#starts++;
    const giveUp = new AbortController();
    const late = this.#parts.clock.after(START_LIMIT_MS, () => giveUp.abort(new Error(`It did not start within ${START_LIMIT_MS / 1000} s.`)));
    const ended = this.#connect(giveUp.signal).finally(() => {
      late();
      this.#launch = undefined;
    });
    this.#launch = { ended, giveUp };
  }

  async #connect(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#closing);
    let lost: string | undefined;
    let own: UpstreamConnection | undefined;
    const on = {
      lost: (problem: string) => {
        lost = problem;
        if (own && own === this.#connection) this.#fail(problem);
      },
    };
    try {
      own = await this.#parts.open(this.#entry, on, signal);
      if (lost !== undefined) throw new Error(lost);
      signal.throwIfAborted();
      this.#connection = own;
      this.#problem = null;
      this.#move('connected');
    } catch (error) {
      if (own) this.#close(own);
      if (signal.reason !== STOPPED) this.#fail(problemOf(signal.aborted ? signal.reason : error));
    }
  }

  /** Marks the server as down and schedules the next attempt to start it. */
  #fail(problem: string): void {
    const upFor = this.#state === 'up' ? this.#parts.clock.now() - this.#since : 0;
    if (upFor >= STEADY_MS) this.#failures = 0;
    const delay = delayBefore(this.#failures++, (this.#parts.random ?? Math.random)());
    this.#dismiss();
    this.#problem = concealer(this.#entry)(problem);
    this.#nextStartAt = this.#parts.clock.now() + delay;
    if (!this.#move('failed')) {
      this.#nextStartAt = null;
      return;
    }
    this.#callOff = this.#parts.clock.after(delay, () => this.#begin());
  }

  async #end(): Promise<void> {
    this.#callOff?.();
    this.#nextStartAt = null;
    const launch = this.#launch;
    launch?.giveUp.abort(STOPPED);
    this.#dismiss();
    await launch?.ended;
    await Promise.all(this.#closing);
  }

  #dismiss(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection) this.#close(connection);
  }

  #close(connection: UpstreamConnection): void {
    const closed = connection.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  #move(move: Move): boolean {
    const from = this.#state;
    const to = NEXT[from][move];
    if (to === undefined) return false;
    this.#state = to;
    if (to !== from) {
      this.#since = this.#parts.clock.now();
      this.#parts.changed(this, from);
    }
    return true;
  }
}

async function orAborted(event: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([event, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** If this many calls in a row fail without an answer, the server is restarted. */
export const MAX_STRIKES = 3;

export type Move = 'begin' | 'wait' | 'connected' | 'failed' | 'stop';

/** The next state for each state and move. A move that is not in the table came too late and is ignored. */
export const NEXT: Readonly<Record<ServerState, Partial<Readonly<Record<Move, ServerState>>>>> = {
  disabled: {},
  stopped: { begin: 'starting', wait: 'idle', stop: 'stopped' },
  idle: { begin: 'starting', stop: 'stopped' },
  starting: { begin: 'starting', connected: 'up', failed: 'down', stop: 'stopped' },
  up: { failed: 'down', begin: 'starting', stop: 'stopped' },
  down: { begin: 'starting', stop: 'stopped' },
};
