import { unwatchFile, watchFile } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Services } from '../../../kernel/call.ts';
import { withTimeout } from '../../../kernel/clock.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { type BoundedLog, createBoundedLog } from '../../../machine/process/bounded-log.ts';
import { type Children, createChildren } from '../../../machine/process/child.ts';
import { childEnvironment } from '../../../machine/process/environment.ts';
import { isFolder } from '../../../machine/process/process.ts';
import type { ServerCatalogue } from './catalogue.ts';
import { Configured, type ConfiguredOptions } from './configured.ts';
import { UpstreamConnection } from './connection.ts';
import type { ServerState, ServerStatus } from './contract.ts';
import { concealer, type ServerEntry, secretsOf } from './entry.ts';
import { said } from './failures.ts';
import type { UpstreamTransport } from './handshake.ts';
import { HttpTransport } from './http.ts';
import { Watches } from './notices.ts';
import { Relay } from './relay.ts';
import { StdioTransport } from './stdio.ts';
import type { ServerListing } from './store.ts';
import { nextPause, Supervisor } from './supervisor.ts';

export interface RunningOptions extends ConfiguredOptions {
  readonly version: string;
  readonly resourceUpdated: (server: string, uri: string) => void;
}

const LOOK_MS = 500;
const STOP_LIMIT_MS = 20_000;
/** A server may take longer to come up than whoever restarts it wants to wait. */
const RESTART_LIMIT_MS = 20_000;

/** The servers of the file, each kept running unless it is switched off. */
export class RunningServers extends Configured {
  readonly #options: RunningOptions;
  readonly #upstreams = new Map<string, Upstream>();
  /** By name: what is being ended. */
  readonly #stopping = new Map<string, Promise<void>>();
  readonly #children: Children;
  #unfollow: (() => void) | undefined;
  #ended = false;

  constructor(services: Services, options: RunningOptions, catalogue: ServerCatalogue) {
    super(services, options, catalogue);
    this.#options = options;
    this.#children = createChildren(services.log);
  }

  /** Waits for no server. */
  override async start(): Promise<void> {
    watchFile(this.file, { interval: LOOK_MS, persistent: false }, this.#look);
    await super.start();
    this.#unfollow = this.catalogue.follow();
  }

  override async stop(): Promise<void> {
    this.#ended = true;
    unwatchFile(this.file, this.#look);
    this.#unfollow?.();
    for (const upstream of this.#upstreams.values()) this.#let(upstream);
    this.#upstreams.clear();
    await withTimeout(
      STOP_LIMIT_MS,
      Promise.all(this.#stopping.values()).then(() => this.#children.stopAll()),
    );
  }

  override upstream(server: string): Upstream | undefined {
    return this.#upstreams.get(server);
  }

  override status(server: string): ServerStatus {
    return this.#upstreams.get(server)?.supervisor.status() ?? super.status(server);
  }

  override async restart(server: string): Promise<void> {
    this.reload();
    const upstream = this.#upstreams.get(server);
    if (upstream) await withTimeout(RESTART_LIMIT_MS, upstream.supervisor.restart());
  }

  readonly #look = (): void => {
    try {
      this.reload();
    } catch (error) {
      this.services.log.error('secrets.toml could not be read again', { error });
    }
  };

  /** Starts, stops and restarts exactly what is not as it was. */
  protected override reload(): void {
    if (this.#ended) return;
    super.reload();
    const wanted = new Map(
      this.entries()
        .entries.filter(({ enabled }) => enabled)
        .map((entry) => [entry.name, entry]),
    );
    for (const [name, upstream] of this.#upstreams) {
      const entry = wanted.get(name);
      if (entry && sameServer(entry, upstream.supervisor.entry)) {
        const { supervisor } = upstream;
        const renamed = entry.prefix !== supervisor.entry.prefix;
        supervisor.entry = entry;
        if (supervisor.state === 'idle' && !entry.lazy) supervisor.start();
        if (renamed) void upstream.relist();
        continue;
      }
      this.#upstreams.delete(name);
      this.#let(upstream);
    }
    for (const entry of wanted.values()) if (!this.#upstreams.has(entry.name)) this.#begin(entry);
  }

  #begin(entry: ServerEntry): void {
    const upstream = new Upstream(entry, {
      ...this.services,
      version: this.#options.version,
      ...this.#reached(entry),
      isKnown: (server) => this.catalogue.isKnown(server),
      observe: (server, listing) => this.catalogue.observe(server, listing),
      resourceUpdated: this.#options.resourceUpdated,
      free: this.#stopping.get(entry.name) ?? Promise.resolve(),
    });
    this.#upstreams.set(entry.name, upstream);
    upstream.supervisor.start();
  }

  #reached(entry: ServerEntry): { diary: BoundedLog; transport: (entry: ServerEntry) => UpstreamTransport } {
    const { transport: way } = entry;
    const diary = createBoundedLog({ path: this.logPath(entry.name), secrets: secretsOf(entry) });
    if (way.kind === 'http') return { diary, transport: () => new HttpTransport(way) };
    const children = this.#children;
    const home = homedir();
    const spawn = {
      file: way.command,
      args: way.args,
      env: childEnvironment(process.env, way.env),
      cwd: way.cwd ?? (isFolder(home) ? home : tmpdir()),
    };
    return { diary, transport: () => new StdioTransport({ children, spawn, log: diary }) };
  }

  #let(upstream: Upstream): void {
    const before = this.#stopping.get(upstream.name);
    const stopped = Promise.all([before, upstream.stop()])
      .catch((error) => this.services.log.warn('external server not stopped', { server: upstream.name, error }))
      .then(() => {
        if (this.#stopping.get(upstream.name) === stopped) this.#stopping.delete(upstream.name);
      });
    this.#stopping.set(upstream.name, stopped);
  }
}

/** Whether what runs is what the entry asks for. The rest of an entry is read with every call. */
const sameServer = (a: ServerEntry, b: ServerEntry): boolean => a.protocol === b.protocol && isDeepStrictEqual(a.transport, b.transport);

export interface UpstreamParts extends Services {
  readonly version: string;
  readonly transport: (entry: ServerEntry) => UpstreamTransport;
  /** Where what happens to it is said, beside what it says itself. */
  readonly diary: BoundedLog;
  readonly isKnown: (server: string) => boolean;
  readonly observe: (server: string, listing: ServerListing) => Promise<void>;
  readonly resourceUpdated: (server: string, uri: string) => void;
  /** When the one before of this name has gone. */
  readonly free?: Promise<unknown>;
}

const LIST_LIMIT_MS = 60_000;

/** One server of the file: kept running, learned by heart, called. */
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

  /** Soon. */
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
    // While it comes up it is being listed, and may have answered already.
    this.#missed = !connection && state === 'starting';
    if (!connection) return;
    try {
      await this.#parts.observe(this.name, await connection.list(AbortSignal.timeout(LIST_LIMIT_MS)));
    } catch (error) {
      if (connection !== this.supervisor.connection) return;
      this.#parts.log.warn('upstream not listed again', { server: this.name, error: concealer(this.supervisor.entry)(said(error)) });
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

  /** Not every attempt: only what is another state than the one last told of. */
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
