import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { DEFAULT_WORKSPACE_ID, isWorkspaceName, workspaceName } from '../../../kernel/ids.ts';
import { namespaceOf } from '../../../kernel/registry.ts';
import { type EntryProblem, EVERY_WORKSPACE, type HttpEntry, type ServerEntry, type StdioEntry } from './entry.ts';
import type { Block, Table } from './toml-blocks.ts';

/** The header of the tables for servers: `[[mcp.server]]`. */
export const ITEM = ['mcp', 'server'];

const string = z.string({ error: 'expected a string' });
const strings = z.array(string, { error: 'expected a list of strings' });
const flag = z.boolean({ error: 'expected true or false' });
const workspace = string.refine((name) => name === EVERY_WORKSPACE || isWorkspaceName(name), {
  error: 'expected a workspace name, or "*" for all workspaces',
});
const MAX_TIMEOUT_S = 24 * 3_600;

/** The keys that an entry may contain. */
export const SERVER_ENTRY = z.strictObject({
  name: string.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, { error: 'expected 1 to 32 letters, digits, "_" and "-", starting with a letter or digit' }),
  command: string.min(1, { error: 'is empty' }).optional(),
  args: strings.optional(),
  env: z.record(string.regex(/^[^=\0]+$/, { error: 'expected variable names' }), string, { error: 'expected a table of strings' }).optional(),
  cwd: string.min(1, { error: 'is empty' }).optional(),
  url: string.optional(),
  headers: z
    .record(string.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: 'is not a header name' }), string, { error: 'expected a table of strings' })
    .optional(),
  enabled: flag.default(true),
  prefix: flag.default(true),
  include: strings.optional(),
  exclude: strings.default([]),
  lazy: flag.default(false),
  workspaces: z
    .array(workspace, { error: 'expected a list of workspaces' })
    .min(1, { error: 'is empty; enabled = false turns a server off' })
    .default([workspaceName(DEFAULT_WORKSPACE_ID)]),
  timeout_s: z
    .number({ error: 'expected a number of seconds' })
    .positive({ error: 'expected more than 0 seconds' })
    .max(MAX_TIMEOUT_S, { error: `expected at most ${MAX_TIMEOUT_S} seconds` })
    .optional(),
  protocol: z.enum(['auto', 'legacy', 'modern'], { error: 'expected "auto", "legacy" or "modern"' }).default('auto'),
});
type Shape = z.output<typeof SERVER_ENTRY>;

/** These keys apply only to servers with `command`, or only to servers with `url`. */
const OF_STDIO = ['args', 'env', 'cwd'] as const;
const OF_HTTP = ['headers'] as const;

export interface EntryOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Covenant's own folder. Entries can refer to it as `$COVENANT_HOME`, and a relative `cwd` starts there. */
  readonly home: string;
  readonly toolTimeoutMs: number;
}

export function checkEntry(table: Table, block: Block, options: EntryOptions): { entry: ServerEntry | undefined; wrong: EntryProblem[] } {
  const wrong: EntryProblem[] = [];
  const server = typeof table.name === 'string' ? table.name.slice(0, 100) : null;
  const report = (path: string, message: string) => void wrong.push({ line: lineOf(block, path), server, message: `${path}: ${message}.` });
  const parsed = SERVER_ENTRY.safeParse(table);
  for (const issue of parsed.error?.issues ?? []) {
    if (issue.code === 'unrecognized_keys') for (const key of issue.keys) report(key, 'unknown key');
    else report(issue.path.join('.'), table[String(issue.path[0])] === undefined ? 'is missing' : (keyIssue(issue) ?? issue.message));
  }
  if (!parsed.success) return { entry: undefined, wrong };
  const given = parsed.data;
  if (/^native$|^covenant/i.test(given.name) || namespaceOf(`${given.name}_x`))
    report('name', 'its tools would have names reserved for Covenant; choose another name');
  const transport = transportOf(given, options, report);
  if (wrong.length > 0 || !transport) return { entry: undefined, wrong };
  const { name, enabled, prefix, include, exclude, lazy, workspaces, protocol, timeout_s } = given;
  const timeoutMs = timeout_s === undefined ? options.toolTimeoutMs : Math.ceil(timeout_s * 1000);
  return { entry: { name, enabled, prefix, include, exclude, lazy, workspaces, timeoutMs, protocol, transport, line: block.line }, wrong };
}

/** For an invalid key in `env` or `headers`, Zod gives the reason in a nested issue. This function finds it. */
const keyIssue = (issue: z.core.$ZodIssue): string | undefined => (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined);

/** The line to report for a path: the line of the key or, if it has none of its own, that of the nearest key around it. */
function lineOf({ keys, line, header }: Block, path: string): number {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const found = keys.get(at);
    if (found !== undefined) return found;
  }
  return header.length === ITEM.length ? line : (keys.get('server') ?? keys.get('mcp.server') ?? line);
}

type Report = (path: string, message: string) => void;

function transportOf(given: Shape, options: EntryOptions, report: Report): StdioEntry | HttpEntry | undefined {
  const { command, url } = given;
  if ((command === undefined) === (url === undefined)) {
    report(command === undefined ? 'name' : 'url', 'expected either command (a program to run) or url (an address), not both');
    return undefined;
  }
  const foreign = (url === undefined ? OF_HTTP : OF_STDIO).filter((key) => given[key] !== undefined);
  for (const key of foreign) report(key, url === undefined ? 'applies only to servers with url, not command' : 'applies only to servers with command, not url');
  if (foreign.length > 0) return undefined;
  const fill = (path: string, text: string) => expandAt(path, text, options, report);
  const fillAll = (path: string, values: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(values).map(([key, text]) => [key, fill(`${path}.${key}`, text)]));
  return command === undefined ? httpOf(fill('url', url as string), fillAll('headers', given.headers), report) : stdioOf(command);

  function stdioOf(program: string): StdioEntry | undefined {
    const filled = fill('command', program);
    if (filled === '') report('command', 'is empty');
    const args = (given.args ?? []).map((text, index) => fill(`args.${index}`, text));
    const env = fillAll('env', given.env);
    const cwd = given.cwd === undefined ? undefined : resolve(options.home, fill('cwd', given.cwd));
    return { kind: 'stdio', command: filled, args, env, cwd };
  }
}

function httpOf(url: string, headers: Record<string, string>, report: Report): HttpEntry | undefined {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^https?:$/.test(address.protocol)) report('url', 'expected http://… or https://…');
  // Node refuses to send requests to an address with credentials in it.
  else if (address.username || address.password) report('url', 'contains a user name or password; send them as headers = { Authorization = "…" }');
  for (const [name, value] of Object.entries(headers))
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) report(`headers.${name}`, 'contains characters that are not allowed in a header');
  return { kind: 'http', url, headers };
}

function expandAt(path: string, text: string, { env, home }: EntryOptions, report: Report): string {
  const given = (name: string) => (Object.hasOwn(env, name) ? env[name] : undefined);
  const variable = (name: string) => (name === 'COVENANT_HOME' ? home : (given(name) ?? (name === 'HOME' ? homedir() : undefined)));
  try {
    const filled = expand(text, variable);
    // The operating system would reject such a string with an error that contains the whole value.
    if (filled.includes('\0')) report(path, 'contains a NUL character');
    return filled;
  } catch (error) {
    if (!(error instanceof Unexpandable)) throw error;
    report(path, error.message);
    return '';
  }
}

/** Matches `$NAME`, `${NAME}`, and `$$`, which stands for a dollar. All other dollars are literal. Unclosed braces are reported as an error. */
const VARIABLE = /\$(?:(\$)|\{([^}]*\}?)|([A-Za-z_][A-Za-z0-9_]*))/g;

class Unexpandable extends Error {
  override readonly name = 'Unexpandable';
}

/** A missing variable is an error and not replaced with nothing, because a server with an empty token or path can do harm. */
function expand(text: string, variable: (name: string) => string | undefined): string {
  return text.replace(VARIABLE, (_all, dollar: string | undefined, braced: string | undefined, bare: string | undefined) => {
    if (dollar) return '$';
    const name = bare ?? /^([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(braced ?? '')?.[1];
    if (name === undefined) throw new Unexpandable('the braces after a dollar must contain a variable name');
    const value = variable(name);
    if (value === undefined) throw new Unexpandable(`the environment variable ${name} is not set for Covenant`);
    return value;
  });
}
