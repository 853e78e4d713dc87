import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Services } from '../../../kernel/call.ts';
import { tailOf } from '../../../machine/process/bounded-log.ts';
import type { ServerCatalogue } from './catalogue.ts';
import type { ServerStatus } from './contract.ts';
import type { ServerEntry } from './entry.ts';
import { type ReadEntries, readEntries } from './secrets-file.ts';
import type { ServerControl } from './tools.ts';
import type { Upstream } from './upstream.ts';

export interface ConfiguredOptions {
  readonly home: string;
  readonly toolTimeoutMs: number;
}

/** Reads the configured servers but does not run them. Used by commands that end immediately. */
export class ConfiguredServers implements ServerControl {
  protected readonly services: Services;
  protected readonly catalogue: ServerCatalogue;
  protected readonly file: string;
  readonly #options: ConfiguredOptions;
  #read: ReadEntries = { entries: [], problems: [] };
  /** Servers that are not in the file, but that other parts of this process have attached. */
  readonly #guests = new Map<string, ServerEntry>();

  constructor(services: Services, options: ConfiguredOptions, catalogue: ServerCatalogue) {
    this.services = services;
    this.#options = options;
    this.catalogue = catalogue;
    this.file = join(options.home, 'secrets.toml');
  }

  async start(): Promise<void> {
    await this.catalogue.load();
    this.reload();
  }

  async stop(): Promise<void> {}

  /** The running server. Undefined, because this class runs no servers. */
  upstream(_server: string): Upstream | undefined {
    return undefined;
  }

  entries(): ReadEntries {
    return this.#read;
  }

  status(server: string): ServerStatus {
    const enabled = this.#read.entries.find(({ name }) => name === server)?.enabled;
    return {
      state: enabled === false ? 'disabled' : 'stopped',
      problem: null,
      pid: null,
      since: null,
      restarts: 0,
      next_start_at: null,
      protocol_version: null,
    };
  }

  /** Adds a server that is not in the file. If the file contains a server with the same name, that one is used. */
  attach(entry: ServerEntry): void {
    this.#guests.set(entry.name, entry);
    this.reload();
  }

  /**
   * Detaches a server and deletes its catalogue, even if an earlier process attached it. If the file contains a server with the same name, the
   * catalogue is not deleted, because people have approved it.
   */
  async detach(server: string, by: { readonly actor: string }): Promise<void> {
    this.#guests.delete(server);
    this.reload();
    const { entries, problems } = this.#read;
    const isWritten = entries.some(({ name }) => name === server) || problems.some((problem) => problem.server === server || problem.server === null);
    if (!isWritten && this.catalogue.isKnown(server)) await this.catalogue.forget(server, by);
  }

  async restart(_server: string): Promise<void> {
    this.reload();
  }

  log(server: string, lines: number): Promise<string[]> {
    return tailOf(this.logPath(server), lines);
  }

  protected reload(): void {
    const { home, toolTimeoutMs } = this.#options;
    const before = this.#read;
    const read = readEntries(this.file, { env: process.env, home, toolTimeoutMs });
    const guests = [...this.#guests.values()].filter(({ name }) => !read.entries.some((entry) => entry.name === name));
    this.#read = { ...read, entries: [...read.entries, ...guests] };
    const { entries, problems } = this.#read;
    if (!isDeepStrictEqual(problems, before.problems)) for (const problem of problems) this.services.log.warn('secrets.toml', { ...problem });
    this.catalogue.configure(entries);
  }

  protected logPath(server: string): string {
    return join(this.#options.home, 'logs', 'servers', `${server}.log`);
  }
}
