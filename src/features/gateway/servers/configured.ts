import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Services } from '../../../kernel/call.ts';
import { workspaceName } from '../../../kernel/ids.ts';
import { tailOf } from '../../../machine/process/bounded-log.ts';
import type { ServerCatalogue } from './catalogue.ts';
import type { ServerStatus } from './contract.ts';
import type { Upstream } from './running.ts';
import { type ReadEntries, readEntries } from './secrets.ts';
import type { ServerControl } from './tools.ts';

export interface ConfiguredOptions {
  readonly home: string;
  readonly toolTimeoutMs: number;
}

/** The servers of the file, none of them running: all that a command which ends at once needs of them. */
export class Configured implements ServerControl {
  protected readonly services: Services;
  protected readonly catalogue: ServerCatalogue;
  protected readonly file: string;
  readonly #options: ConfiguredOptions;
  #read: ReadEntries = { entries: [], problems: [] };
  /** Servers that come with something that runs here, and go with it. */
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

  /** The server that this process keeps running. */
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

  /** A server of the file that has the same name goes before. */
  attach(entry: ServerEntry): void {
    this.#guests.set(entry.name, entry);
    this.reload();
  }

  /**
   * Ends it, and forgets what was known of it, also where it came before this process did. Of a server of the file that has
   * the same name nothing is forgotten: its approvals are people's.
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

/** One `[[mcp.server]]` table of `secrets.toml`, checked and with its variables expanded. */
export interface ServerEntry {
  readonly name: string;
  readonly enabled: boolean;
  /** Its tools and prompts are offered as `<name>_<tool>`. */
  readonly prefix: boolean;
  /** By the server's own names. Undefined: all. */
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[];
  /** Not started before the first call, once its catalogue is known. */
  readonly lazy: boolean;
  readonly timeoutMs: number;
  readonly protocol: 'auto' | 'legacy' | 'modern';
  readonly transport: StdioEntry | HttpEntry;
  /** Where its table begins. */
  readonly line: number;
  /** Names of the workspaces that it serves; `*` is every one. To any other it is as if it were not there. */
  readonly workspaces: readonly string[];
  /** Whose operators look after it; where it is not said, those of the default workspace. */
  readonly workspace?: string;
}

export const serves = ({ workspaces }: Pick<ServerEntry, 'workspaces'>, workspace: string): boolean =>
  workspaces.includes(EVERY_WORKSPACE) || workspaces.includes(workspaceName(workspace));

export const EVERY_WORKSPACE = '*';

/** Whether both serve some workspace: only there do their names meet. */
export const shareWorkspace = (a: Pick<ServerEntry, 'workspaces'>, b: Pick<ServerEntry, 'workspaces'>): boolean =>
  [a, b].some(({ workspaces }) => workspaces.includes(EVERY_WORKSPACE)) || a.workspaces.some((name) => b.workspaces.includes(name));

export interface StdioEntry {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

export interface HttpEntry {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is wrong in the file, and where. The entry is skipped, the others are not. */
export interface EntryProblem {
  readonly line: number | null;
  readonly server: string | null;
  readonly message: string;
}

/** Shorter values (a log level, a flag) are no secrets, and to strike them out would leave a log that nobody can read. */
const SHORTEST = 8;

/** What of an entry is nobody's business, the longest first: a part of it struck out would leave the rest standing. */
export function secretsOf({ transport }: ServerEntry): string[] {
  const values =
    transport.kind === 'stdio'
      ? [...Object.values(transport.env), ...argumentSecrets(transport.args)]
      : [...Object.values(transport.headers), ...addressSecrets(transport.url)];
  return values
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
}

/** A function that strikes an entry's secrets out of what is said of its server. */
export function concealer(entry: ServerEntry): (text: string) => string {
  const secrets = secretsOf(entry);
  return (text) => secrets.reduce((safe, value) => safe.replaceAll(value, '[redacted]'), text);
}

const WORD = '(?:auth|token|key|secret|passw|credential)';
/** `--api-key`, of which the next argument is the value. */
const FLAG = new RegExp(`^--?[\\w-]*${WORD}[\\w-]*$`, 'i');
/** `--api-key=…`, `Authorization: Bearer …` */
const NAMED = new RegExp(`${WORD}[\\w-]*["']?\\s*[:=]\\s*(.+)$`, 'is');
const IN_ADDRESS = /:\/\/[^/\s:@]*:([^/\s@]+)@/;

/** Most arguments are no secrets, and a log without them would say nothing: those that are called so. */
function argumentSecrets(args: readonly string[]): string[] {
  const found = args.flatMap((text, place) => [FLAG.test(args[place - 1] ?? '') ? text : undefined, NAMED.exec(text)?.[1], IN_ADDRESS.exec(text)?.[1]]);
  return found.filter((value) => value !== undefined);
}

function addressSecrets(url: string): string[] {
  const { search, searchParams, pathname } = new URL(url);
  return [search.slice(1), ...searchParams.values(), ...pathname.split('/').filter((part) => part.length >= 16)];
}

/** Where a server is, as far as it can be shown: arguments, paths and queries may hold secrets. */
export const targetOf = ({ transport }: ServerEntry): string => (transport.kind === 'stdio' ? transport.command : new URL(transport.url).origin);
