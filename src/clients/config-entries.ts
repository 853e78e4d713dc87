import type { HookEvent } from '../wire/hook-question.ts';
import { shellQuoted } from '../wire/shell-quoted.ts';
import type { Bridge, ClientConnection, ClientName, ConfigEntry, HookClient, SetupContext } from './client.ts';

/** The environment variable with the token. Each client has its own syntax for a value from the environment. */
export const TOKEN = 'COVIBE_MCP_TOKEN';

export const BRIDGE = ['covibe-mcp'] as const;

export const bearer = (reference: string) => ({ Authorization: `Bearer ${reference}` });

export const indentedJson = (value: unknown): string => JSON.stringify(value, null, 2);

/** Returns a command that changes to `cwd` before it starts the bridge, for clients that start their servers in a folder of their own choice. */
export const inFolder = ({ cwd, command = BRIDGE }: Bridge): readonly string[] =>
  cwd === undefined ? command : ['sh', '-c', 'cd "$0" && exec "$@"', cwd, ...command];

export const bridgeEnvironment = (client: ClientName, { baseUrl }: Bridge, token: string) => ({
  COVIBE_BASE_URL: baseUrl,
  COVIBE_AGENT: client,
  COVIBE_MCP_TOKEN: token,
});

export const startCommand = ([command, ...args]: readonly string[]) => ({ command, ...(args.length > 0 && { args }) });
export const workingFolder = ({ cwd }: Bridge) => (cwd === undefined ? {} : { cwd });

/** Returns the position and the value of the bridge's entry in a client's configuration. */
export function bridgeEntry(
  { section, stdio }: ClientConnection,
  bridge: Bridge,
): { readonly at: readonly [string, string]; readonly value: Readonly<Record<string, unknown>> } {
  return { at: [section, 'covibe'], value: stdio(bridge) };
}

/** The entry for the bridge, in the form in which setup records it. */
export const serverEntry = (connection: ClientConnection, { origin, programs }: SetupContext, cwd?: string): ConfigEntry => ({
  kind: 'member',
  what: 'server entry',
  ...bridgeEntry(connection, { baseUrl: origin, command: programs.bridge, cwd }),
});

/** Formats a TOML table with one line per key, as people usually write it. */
export const tomlTable = (at: readonly string[], value: Readonly<Record<string, unknown>>): string =>
  [`[${at.join('.')}]`, ...Object.entries(value).map(([key, each]) => `${key} = ${tomlValue(each)}`)].join('\n');

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, each]) => `${key} = ${tomlValue(each)}`)
      .join(', ')} }`;
  return JSON.stringify(value);
}

interface WrittenHook {
  readonly command: string;
  readonly event: HookEvent;
  readonly timeout: number;
}

export interface HookStyle {
  /** The shell expression with which a hook of this client finds the top of the repository. */
  readonly top?: string;
  /** A pattern for the tools that can write, by their names in the client. Hooks do not check other tools before they run. */
  readonly writing: string;
  /** Timeouts in seconds for events whose timeout is not `TIMEOUT_S`. */
  readonly timeouts?: Readonly<Partial<Record<HookEvent, number>>>;
  /** Returns the value of a hook. Default: `{type: "command", command, timeout}`. */
  readonly hook?: (hook: WrittenHook) => unknown;
  /** Returns the list element that shows an event. Default: a group of hooks. */
  readonly element?: (hook: WrittenHook, matcher: { readonly matcher?: string }) => unknown;
}

/** The timeout of a hook in seconds. It is longer than the companion waits for the server. */
const TIMEOUT_S = 15;

/** Returns the hook entries for all events of the client. */
export function hookEntries(client: ClientName, { events }: HookClient, style: HookStyle, { programs, origin }: SetupContext): ConfigEntry[] {
  return (Object.entries(events) as [HookEvent, string][]).map(([event, native]) => {
    const command = `${programs.companion(style.top)} hook ${client} ${event} --base-url ${shellQuoted(origin)}`;
    const hook = { command, event, timeout: style.timeouts?.[event] ?? TIMEOUT_S };
    const matcher = event === 'before-tool' ? { matcher: style.writing } : {};
    const one = style.hook ? style.hook(hook) : { type: 'command', command, timeout: hook.timeout };
    const value = style.element ? style.element(hook, matcher) : { ...matcher, hooks: [one] };
    return { kind: 'item', what: `${native} hook`, list: ['hooks', native], ours: ownHookPattern(client), value };
  });
}

/** Matches all hooks that any version of setup has written for this client. */
const ownHookPattern = (client: ClientName): string => `covibe-local\\S*['"]? hook ${client}\\b|/api/hooks/${client}/`;
