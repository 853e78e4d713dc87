import type { HookEvent } from '../wire/hook-question.ts';
import { shellQuoted } from '../wire/shell-quoted.ts';
import type { Bridge, ClientConnection, ClientName, ConfigEntry, HookClient, SetupContext } from './client.ts';

/** Each client has its own syntax for a value from the environment. */
export const TOKEN = 'COVIBE_MCP_TOKEN';

export const BRIDGE = ['covibe-mcp'] as const;

export const bearer = (reference: string) => ({ Authorization: `Bearer ${reference}` });

export const indentedJson = (value: unknown): string => JSON.stringify(value, null, 2);

/** For clients that start their servers in their own working folder. */
export const inFolder = ({ cwd, command = BRIDGE }: Bridge): readonly string[] =>
  cwd === undefined ? command : ['sh', '-c', 'cd "$0" && exec "$@"', cwd, ...command];

export const bridgeEnvironment = (client: ClientName, { baseUrl }: Bridge, token: string) => ({
  COVIBE_BASE_URL: baseUrl,
  COVIBE_AGENT: client,
  COVIBE_MCP_TOKEN: token,
});

export const startCommand = ([command, ...args]: readonly string[]) => ({ command, ...(args.length > 0 && { args }) });
export const workingFolder = ({ cwd }: Bridge) => (cwd === undefined ? {} : { cwd });

/** The bridge's entry in a client's configuration: its position and value. */
export function bridgeEntry(
  { section, stdio }: ClientConnection,
  bridge: Bridge,
): { readonly at: readonly [string, string]; readonly value: Readonly<Record<string, unknown>> } {
  return { at: [section, 'covibe'], value: stdio(bridge) };
}

/** The same entry as setup writes it. */
export const serverEntry = (connection: ClientConnection, { origin, programs }: SetupContext, cwd?: string): ConfigEntry => ({
  kind: 'member',
  what: 'server entry',
  ...bridgeEntry(connection, { baseUrl: origin, command: programs.bridge, cwd }),
});

/** One line per key, as people write it. */
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

/** How a client's hooks are configured. */
export interface HookStyle {
  /** The client's expression for the top of the repository in a hook's shell. */
  readonly top?: string;
  /** Tools that can write, by the client's names. Other tools are not checked before they run. */
  readonly writing: string;
  /** In seconds, if not `TIMEOUT_S`. */
  readonly timeouts?: Readonly<Partial<Record<HookEvent, number>>>;
  /** The hook's value, if not `{type: "command", command, timeout}`. */
  readonly hook?: (hook: WrittenHook) => unknown;
  /** The element in an event's list, if not a group of hooks. */
  readonly element?: (hook: WrittenHook, matcher: { readonly matcher?: string }) => unknown;
}

/** Longer than the companion waits for the server. */
const TIMEOUT_S = 15;

/** A hook for each event that the client has. */
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

/** Matches everything that any version of setup has written as a hook of this client. */
const ownHookPattern = (client: ClientName): string => `covibe-local\\S*['"]? hook ${client}\\b|/api/hooks/${client}/`;
