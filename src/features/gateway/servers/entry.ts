import { workspaceName } from '../../../kernel/ids.ts';

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
