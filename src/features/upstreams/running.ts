import { unwatchFile, watchFile } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { House } from '../../kernel/context.ts';
import { type BoundedLog, createBoundedLog, tailOf } from '../../machine/bounded-log.ts';
import { type Children, createChildren } from '../../machine/children.ts';
import { isFolder } from '../../machine/process.ts';
import type { Catalogue } from './catalogue.ts';
import { secretsOf } from './conceal.ts';
import type { Entry } from './entry.ts';
import { childEnvironment } from './environment.ts';
import type { UpstreamTransport } from './handshake.ts';
import { HttpTransport } from './http.ts';
import type { ServerStatus } from './listing.ts';
import { type ReadEntries, readEntries } from './secrets.ts';
import { StdioTransport } from './stdio.ts';
import type { ServerControl } from './tools.ts';
import { Upstream } from './upstream.ts';

export interface RunningOptions {
  readonly home: string;
  /** Whether this process starts the servers. */
  readonly run: boolean;
  readonly toolTimeoutMs: number;
  readonly version: string;
  readonly resourceUpdated: (server: string, uri: string) => void;
}

const LOOK_MS = 500;
const STOP_LIMIT_MS = 20_000;
/** A server may take longer to come up than whoever restarts it wants to wait. */
const RESTART_LIMIT_MS = 20_000;

/** The servers of the file, as many of them as this process keeps running. */
export class Running implements ServerControl {
  readonly #house: House;
  readonly #options: RunningOptions;
  readonly #catalogue: Catalogue;
  readonly #upstreams = new Map<string, Upstream>();
  /** By name: what is being ended. */
  readonly #stopping = new Map<string, Promise<void>>();
  readonly #file: string;
  #read: ReadEntries = { entries: [], problems: [] };
  #children: Children | undefined;
  #unfollow: (() => void) | undefined;
  #ended = false;

  constructor(house: House, options: RunningOptions, catalogue: Catalogue) {
    this.#house = house;
    this.#options = options;
    this.#catalogue = catalogue;
    this.#file = join(options.home, 'secrets.toml');
  }

  /** Waits for no server. */
  async start(): Promise<void> {
    await this.#catalogue.load();
    if (this.#options.run) {
      this.#children = createChildren(this.#house.log);
      watchFile(this.#file, { interval: LOOK_MS, persistent: false }, this.#look);
      this.#unfollow = this.#catalogue.follow();
    }
    this.#reload();
  }

  async stop(): Promise<void> {
    this.#ended = true;
    unwatchFile(this.#file, this.#look);
    this.#unfollow?.();
    for (const upstream of this.#upstreams.values()) this.#let(upstream);
    this.#upstreams.clear();
    await within(
      STOP_LIMIT_MS,
      Promise.all(this.#stopping.values()).then(() => this.#children?.stopAll()),
    );
  }

  upstream(server: string): Upstream | undefined {
    return this.#upstreams.get(server);
  }

  entries(): ReadEntries {
    return this.#read;
  }

  status(server: string): ServerStatus {
    const running = this.#upstreams.get(server)?.supervisor.status();
    if (running) return running;
    const enabled = this.#read.entries.find(({ name }) => name === server)?.enabled;
    return { state: enabled === false ? 'disabled' : 'stopped', problem: null, pid: null, since: null, restarts: 0, nextStartAt: null, protocolVersion: null };
  }

  async restart(server: string): Promise<void> {
    this.#reload();
    const upstream = this.#upstreams.get(server);
    if (upstream) await within(RESTART_LIMIT_MS, upstream.supervisor.restart());
  }

  log(server: string, lines: number): Promise<string[]> {
    return tailOf(this.#logPath(server), lines);
  }

  readonly #look = (): void => {
    try {
      this.#reload();
    } catch (error) {
      this.#house.log.error('secrets.toml could not be read again', { error });
    }
  };

  /** Starts, stops and restarts exactly what is not as it was. */
  #reload(): void {
    if (this.#ended) return;
    const { home, toolTimeoutMs, run } = this.#options;
    const before = this.#read;
    this.#read = readEntries(this.#file, { env: process.env, home, toolTimeoutMs });
    const { entries, problems } = this.#read;
    if (!isDeepStrictEqual(problems, before.problems)) for (const problem of problems) this.#house.log.warn('secrets.toml', { ...problem });
    this.#catalogue.configure(entries);
    if (!run) return;
    const wanted = new Map(entries.filter(({ enabled }) => enabled).map((entry) => [entry.name, entry]));
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

  #begin(entry: Entry): void {
    const upstream = new Upstream(entry, {
      ...this.#house,
      version: this.#options.version,
      ...this.#reached(entry),
      isKnown: (server) => this.#catalogue.isKnown(server),
      observe: (server, listing) => this.#catalogue.observe(server, listing),
      resourceUpdated: this.#options.resourceUpdated,
      free: this.#stopping.get(entry.name) ?? Promise.resolve(),
    });
    this.#upstreams.set(entry.name, upstream);
    upstream.supervisor.start();
  }

  #reached(entry: Entry): { diary: BoundedLog; transport: (entry: Entry) => UpstreamTransport } {
    const { transport: way } = entry;
    const diary = createBoundedLog({ path: this.#logPath(entry.name), secrets: secretsOf(entry) });
    if (way.kind === 'http') return { diary, transport: () => new HttpTransport(way) };
    const children = this.#children as Children;
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
      .catch((error) => this.#house.log.warn('external server not stopped', { server: upstream.name, error }))
      .then(() => {
        if (this.#stopping.get(upstream.name) === stopped) this.#stopping.delete(upstream.name);
      });
    this.#stopping.set(upstream.name, stopped);
  }

  #logPath(server: string): string {
    return join(this.#options.home, 'logs', 'servers', `${server}.log`);
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  await Promise.race([work, wait(ms, undefined, { signal: enough.signal }).catch(() => {})]);
  enough.abort();
}

/** Whether what runs is what the entry asks for. The rest of an entry is read with every call. */
const sameServer = (a: Entry, b: Entry): boolean => a.protocol === b.protocol && isDeepStrictEqual(a.transport, b.transport);
