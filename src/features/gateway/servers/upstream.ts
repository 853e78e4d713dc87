import { setTimeout as wait } from 'node:timers/promises';
import type { Services } from '../../../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import type { BoundedLog } from '../../../machine/process/bounded-log.ts';
import { concealer } from './conceal.ts';
import { UpstreamConnection } from './connection.ts';
import type { ServerState } from './contract.ts';
import type { ServerEntry } from './entry.ts';
import { errorLine } from './failures.ts';
import type { UpstreamTransport } from './handshake.ts';
import { nextPause } from './pauses.ts';
import { Relay } from './relay.ts';
import type { ServerListing } from './store.ts';
import { Supervisor } from './supervisor.ts';
import { Watches } from './watches.ts';

export interface UpstreamParts extends Services {
  readonly version: string;
  readonly transport: (entry: ServerEntry) => UpstreamTransport;
  /** The log of the server. Covenant also writes the state changes of the server to it. */
  readonly diary: BoundedLog;
  readonly isKnown: (server: string) => boolean;
  readonly observe: (server: string, listing: ServerListing) => Promise<void>;
  readonly resourceUpdated: (server: string, uri: string) => void;
  /** Resolves when the previous server of this name has exited. */
  readonly free?: Promise<unknown>;
}

const LIST_LIMIT_MS = 60_000;

/** One configured server. The supervisor keeps it running, lists its tools and sends calls to it. */
export class Upstream {
  readonly supervisor: Supervisor;
  readonly relay: Relay;
  readonly watches: Watches;
  readonly #parts: UpstreamParts;
  #relisting = false;
  #relistDue = false;
  #missed = false;
  #listedAt = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;
  #announced: 'up' | 'down' | undefined;

  constructor(entry: ServerEntry, parts: UpstreamParts) {
    this.#parts = parts;
    this.supervisor = new Supervisor(entry, {
      clock: parts.clock,
      log: parts.log,
      open: (current, on, signal) => this.#open(current, on, signal),
      isKnown: parts.isKnown,
      changed: (_supervisor, from) => this.#changed(from),
      ...(parts.free ? { free: parts.free } : {}),
    });
    this.relay = new Relay(this.supervisor, parts.clock);
    this.watches = new Watches(this.supervisor, parts.log);
  }

  get name(): string {
    return this.supervisor.entry.name;
  }

  async stop(): Promise<void> {
    this.relay.endSuspended();
    await this.supervisor.stop();
    await this.#parts.diary.flush();
  }

  async #open(entry: ServerEntry, on: { lost(problem: string): void }, signal: AbortSignal): Promise<UpstreamConnection> {
    const { clock, log, version, transport, resourceUpdated } = this.#parts;
    const connection = await UpstreamConnection.open({
      entry,
      version,
      clock,
      log,
      signal,
      transport: () => transport(entry),
      on: {
        lost: on.lost,
        listsChanged: () => void this.relist(),
        resourceUpdated: (uri) => {
          if (this.watches.has(uri)) resourceUpdated(entry.name, uri);
        },
      },
    });
    try {
      await this.#parts.observe(entry.name, await connection.list(signal));
    } catch (error) {
      const problem = connection.endedBecause;
      await connection.close();
      throw problem ? new Error(problem) : error;
    }
    connection.notices.begin();
    this.watches.restore(connection);
    return connection;
  }

  /** Lists the server again after a pause. */
  async relist(): Promise<void> {
    this.#relistDue = true;
    if (this.#relisting) return;
    this.#relisting = true;
    while (this.#relistDue) {
      this.#pauseMs = nextPause(this.#pauseMs, performance.now() - this.#listedAt);
      await wait(this.#pauseMs, undefined, { ref: false });
      this.#relistDue = false;
      await this.#listAgain();
      this.#listedAt = performance.now();
    }
    this.#relisting = false;
  }

  async #listAgain(): Promise<void> {
    const { connection, state } = this.supervisor;
    // A server is always listed while it starts. But if the change comes after that listing, the server must be listed again once it is up.
    this.#missed = !connection && state === 'starting';
    if (!connection) return;
    try {
      await this.#parts.observe(this.name, await connection.list(AbortSignal.timeout(LIST_LIMIT_MS)));
    } catch (error) {
      if (connection !== this.supervisor.connection) return;
      this.#parts.log.warn('could not relist the external server', { server: this.name, error: concealer(this.supervisor.entry)(errorLine(error)) });
      this.supervisor.judge(connection, 'strike');
    }
  }

  #changed(from: ServerState): void {
    const { state, problem, restarts, protocol_version: protocol } = this.supervisor.status();
    if (from === 'up') this.relay.endSuspended();
    if (state === 'up' && this.#missed) void this.relist();
    if (state === 'up') this.#announce('up', 'upstream.started', { protocol, restarts });
    if (state !== 'down') return;
    this.#parts.diary.write(`down: ${problem}`);
    this.#announce('down', 'upstream.down', { while: from, restarts });
  }

  /** Records that the server is up or down. Further failed attempts in the same state are not recorded. */
  #announce(state: 'up' | 'down', kind: string, payload: Record<string, unknown>): void {
    if (state === 'down' && this.#announced === 'down') return;
    this.#announced = state;
    const { log, store } = this.#parts;
    if (state === 'down') log.warn('external server is down', { server: this.name, problem: this.supervisor.status().problem });
    else log.info('external server is up', { server: this.name, ...payload });
    const event = { category: 'work', kind, actor: 'server', subject: `server:${this.name}`, payload } as const;
    store.append(DEFAULT_WORKSPACE_ID, [event]).catch((error) => log.error('event of an external server not journaled', { server: this.name, error }));
  }
}
