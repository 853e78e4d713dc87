import { unwatchFile, watchFile } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import type { Services } from '../../../kernel/call.ts';
import { waitAtMost } from '../../../kernel/clock.ts';
import { type BoundedLog, createBoundedLog } from '../../../machine/process/bounded-log.ts';
import { type Children, createChildren } from '../../../machine/process/children.ts';
import { childEnvironment } from '../../../machine/process/environment.ts';
import { isFolder } from '../../../machine/process/process.ts';
import type { ServerCatalogue } from './catalogue.ts';
import { secretsOf } from './conceal.ts';
import { type ConfiguredOptions, ConfiguredServers } from './configured.ts';
import type { ServerStatus } from './contract.ts';
import type { ServerEntry } from './entry.ts';
import type { UpstreamTransport } from './handshake.ts';
import { HttpTransport } from './http-transport.ts';
import { StdioTransport } from './stdio-transport.ts';
import { Upstream } from './upstream.ts';

export interface RunningOptions extends ConfiguredOptions {
  readonly version: string;
  readonly resourceUpdated: (server: string, uri: string) => void;
}

const FILE_CHECK_MS = 500;
const STOP_LIMIT_MS = 20_000;
/** The maximum time that a person waits for a restart. */
const RESTART_LIMIT_MS = 20_000;

/** Keeps all servers of the file running, except for those that are disabled. */
export class RunningServers extends ConfiguredServers {
  readonly #options: RunningOptions;
  readonly #upstreams = new Map<string, Upstream>();
  /** For each server that is being stopped, a promise that resolves when it has ended. */
  readonly #stopping = new Map<string, Promise<void>>();
  readonly #children: Children;
  #unfollow: (() => void) | undefined;
  #ended = false;

  constructor(services: Services, options: RunningOptions, catalogue: ServerCatalogue) {
    super(services, options, catalogue);
    this.#options = options;
    this.#children = createChildren(services.log);
  }

  /** Starts the servers without waiting until they are up. */
  override async start(): Promise<void> {
    watchFile(this.file, { interval: FILE_CHECK_MS, persistent: false }, this.#reloadChangedFile);
    await super.start();
    this.#unfollow = this.catalogue.follow();
  }

  override async stop(): Promise<void> {
    this.#ended = true;
    unwatchFile(this.file, this.#reloadChangedFile);
    this.#unfollow?.();
    for (const upstream of this.#upstreams.values()) this.#end(upstream);
    this.#upstreams.clear();
    await waitAtMost(
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
    if (upstream) await waitAtMost(RESTART_LIMIT_MS, upstream.supervisor.restart());
  }

  readonly #reloadChangedFile = (): void => {
    try {
      this.reload();
    } catch (error) {
      this.services.log.error('could not reread secrets.toml', { error });
    }
  };

  /** Reads the file again. Only servers whose entries have changed are started, stopped or restarted. */
  protected override reload(): void {
    if (this.#ended) return;
    super.reload();
    const enabled = this.entries().entries.filter((entry) => entry.enabled);
    const wanted = new Map(enabled.map((entry) => [entry.name, entry]));
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
      this.#end(upstream);
    }
    for (const entry of wanted.values()) if (!this.#upstreams.has(entry.name)) this.#start(entry);
  }

  #start(entry: ServerEntry): void {
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

  #end(upstream: Upstream): void {
    const before = this.#stopping.get(upstream.name);
    const stopped = Promise.all([before, upstream.stop()])
      .catch((error) => this.services.log.warn('external server not stopped', { server: upstream.name, error }))
      .then(() => {
        if (this.#stopping.get(upstream.name) === stopped) this.#stopping.delete(upstream.name);
      });
    this.#stopping.set(upstream.name, stopped);
  }
}

/** Whether a server can continue to run with a changed entry. Settings that are not compared here are read on every call. */
const sameServer = (a: ServerEntry, b: ServerEntry): boolean => a.protocol === b.protocol && isDeepStrictEqual(a.transport, b.transport);
