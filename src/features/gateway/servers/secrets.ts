import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { DEFAULT_WORKSPACE_ID, isWorkspaceName, workspaceName } from '../../../kernel/ids.ts';
import { isRecord, namespaceOf } from '../../../kernel/registry.ts';
import { type EntryProblem, EVERY_WORKSPACE, type HttpEntry, type ServerEntry, type StdioEntry } from './entry.ts';

export interface EntryOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Covenant's own folder: `$COVENANT_HOME`, and what a relative `cwd` is relative to. */
  readonly home: string;
  readonly toolTimeoutMs: number;
}

export interface ReadEntries {
  readonly entries: readonly ServerEntry[];
  readonly problems: readonly EntryProblem[];
}

const ITEM = ['mcp', 'server'];
const NONE: ReadEntries = { entries: [], problems: [] };

/** The `[[mcp.server]]` tables of the file. What is wrong with one is said, by its line and never with a value, and skips that one alone. */
export function readEntries(path: string, options: EntryOptions): ReadEntries {
  let text: string;
  let mode: number;
  try {
    text = readFileSync(path, 'utf8');
    mode = statSync(path).mode & 0o777;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? NONE : { entries: [], problems: [{ line: null, server: null, message: `${path} cannot be read: ${code}.` }] };
  }
  const problems = process.platform !== 'win32' && mode & 0o077 ? [exposed(path, mode)] : [];
  return parseEntries(text, options, problems);
}

const exposed = (path: string, mode: number): EntryProblem => ({
  line: null,
  server: null,
  message: `${path} can be read by others (0${mode.toString(8)}): chmod 600 ${path}`,
});

export function parseEntries(written: string, options: EntryOptions, already: readonly EntryProblem[] = []): ReadEntries {
  const text = written.replaceAll('\r\n', '\n');
  const problems = [...already];
  const entries = new Map<string, ServerEntry>();
  let broken = false;
  for (const block of blocksOf(text, ITEM)) {
    const read = readBlock(block);
    if ('fault' in read) {
      broken = true;
      problems.push(read.fault);
      continue;
    }
    for (const table of read.tables) {
      const { entry, wrong } = checkEntry(table, block, options);
      const twin = entry && entries.get(entry.name);
      if (twin)
        wrong.push({
          line: block.keys.get('name') ?? block.line,
          server: entry.name,
          message: `name: line ${twin.line} has a server of that name; it counts.`,
        });
      else if (entry) entries.set(entry.name, entry);
      problems.push(...wrong);
    }
  }
  if (!broken) problems.push(...wholeFault(text));
  return { entries: [...entries.values()], problems };
}

type Table = Record<string, unknown>;

function readBlock(block: Block): { tables: Table[] } | { fault: EntryProblem } {
  let document: Table;
  try {
    document = parse(block.text) as Table;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { fault: faultOf(error, nameIn(block)) };
  }
  const mcp = isRecord(document.mcp) ? document.mcp : {};
  const { server } = mcp;
  if (mcp.servers ?? document.mcp_servers ?? document.mcpServers) return { fault: misplaced(block) };
  if (server === undefined) return { tables: [] };
  if (Array.isArray(server) && server.every(isRecord)) return { tables: server };
  return { fault: misplaced(block) };
}

/** As it is not read, or as other programs have it. */
const misplaced = ({ keys, line }: Block): EntryProblem => ({
  line: keys.get('server') ?? keys.get('servers') ?? line,
  server: null,
  message: 'mcp.server: write each server as a table [[mcp.server]].',
});

/** What no table shows on its own: one that is written twice. */
function wholeFault(text: string): EntryProblem[] {
  try {
    parse(text);
    return [];
  } catch (error) {
    if (error instanceof TomlError) return [faultOf(error, null)];
    throw error;
  }
}

/** The parser's message goes on to quote the line: values are not repeated. */
function faultOf(error: TomlError, server: string | null): EntryProblem {
  const reason = (error.message.split('\n')[0] ?? '').replace('Invalid TOML document: ', '');
  return { line: error.line, server, message: `column ${error.column}: ${reason}.` };
}

function nameIn({ keys, text }: Block): string | null {
  const { name } = parsed(text.split('\n')[(keys.get('name') ?? 0) - 1] ?? '') ?? {};
  return typeof name === 'string' ? name : null;
}

/**
 * One table of a TOML text with the lines of its keys. The parser gives values without places, and nothing at all of a text that has a fault
 * anywhere; with this each table can be read on its own, and what is wrong in it be named by its line.
 */
interface Block {
  /** The line of its header; 1 for what comes before the first header. */
  readonly line: number;
  readonly header: readonly string[];
  /** The text with nothing but this table in it: lines and columns are those of the whole. */
  readonly text: string;
  /** The line of each key, as a dotted path below the header. */
  readonly keys: ReadonlyMap<string, number>;
}

/** `item`: the header of a table that is repeated (`[[…]]`); what is written below it as `[….…]` belongs to it. */
export function blocksOf(text: string, item: readonly string[]): Block[] {
  const lines = text.split('\n');
  const blockAt = (line: number, header: readonly string[]) => ({ line, header, keys: new Map<string, number>(), own: new Set<number>() });
  let block = blockAt(1, []);
  let latestItem: typeof block | undefined;
  const blocks = [block];
  /** The table that the next keys belong to, as a path below the block's header. */
  let under: readonly string[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = at + 1;
    const header = headerIn(lines[at] as string);
    const { end, value } = header ? { end: line, value: {} } : statementAt(lines, at);
    if (header && latestItem && header.path.length > item.length && item.every((part, place) => part === header.path[place])) {
      block = latestItem;
      under = header.path.slice(item.length);
      block.keys.set(under.join('.'), line);
    } else if (header) {
      block = blockAt(line, header.path);
      under = [];
      blocks.push(block);
      if (header.isItem && header.path.join('\0') === item.join('\0')) latestItem = block;
    }
    for (const path of pathsIn(value, under)) if (!block.keys.has(path)) block.keys.set(path, line);
    for (; at < end; at++) block.own.add(at);
  }
  return blocks.map(({ line, header, keys, own }) => {
    // Ends where the table ends, so that a fault found at the end is not placed behind it.
    const shown = lines.slice(0, Math.max(-1, ...own) + 1).map((each, index) => (own.has(index) ? each : ''));
    return { line, header, keys, text: shown.join('\n') };
  });
}

function parsed(text: string): Table | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function headerIn(line: string): { path: string[]; isItem: boolean } | undefined {
  let inner: unknown = /^[ \t\uFEFF]*\[/.test(line) ? parsed(line) : undefined;
  if (inner === undefined) return undefined;
  const path: string[] = [];
  for (; isRecord(inner) && Object.keys(inner).length > 0; inner = Object.values(inner)[0]) path.push(Object.keys(inner)[0] as string);
  return { path, isItem: Array.isArray(inner) };
}

/** Only such a value can go over several lines. */
const MAY_GO_ON = /=.*(?:\[|"""|''')/;
const MAX_LINES = 1_000;

/** As many lines as the parser needs for a whole statement; of one that it never understands, the first alone: what follows must not be swallowed. */
function statementAt(lines: readonly string[], at: number): { end: number; value: Table } {
  const most = MAY_GO_ON.test(lines[at] as string) ? Math.min(lines.length, at + MAX_LINES) : at + 1;
  for (let end = at + 1; end <= most; end++) {
    const value = parsed(lines.slice(at, end).join('\n'));
    if (value) return { end, value };
  }
  return { end: at + 1, value: {} };
}

/** Each key of a table, and of the tables in it, as a dotted path. */
function pathsIn(value: Table, under: readonly string[]): string[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...under, key];
    return [path.join('.'), ...(isRecord(inner) ? pathsIn(inner, path) : [])];
  });
}

const string = z.string({ error: 'expected a string' });
const strings = z.array(string, { error: 'expected a list of strings' });
const flag = z.boolean({ error: 'expected true or false' });
const MAX_TIMEOUT_S = 24 * 3_600;

const shape = z.strictObject({
  name: string.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, { error: 'expected 1 to 32 letters, digits, "_" and "-", beginning with a letter or digit' }),
  command: string.min(1, { error: 'is empty' }).optional(),
  args: strings.optional(),
  env: z.record(string.regex(/^[^=\0]+$/, { error: 'expected the names of variables' }), string, { error: 'expected a table of strings' }).optional(),
  cwd: string.min(1, { error: 'is empty' }).optional(),
  url: string.optional(),
  headers: z
    .record(string.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: 'is not the name of a header' }), string, { error: 'expected a table of strings' })
    .optional(),
  enabled: flag.default(true),
  prefix: flag.default(true),
  include: strings.optional(),
  exclude: strings.default([]),
  lazy: flag.default(false),
  workspaces: z
    .array(
      string.refine((name) => name === EVERY_WORKSPACE || isWorkspaceName(name), { error: 'expected the name of a workspace, or "*" for every one' }),
      {
        error: 'expected a list of workspaces',
      },
    )
    .min(1, { error: 'is empty; enabled = false turns a server off' })
    .default([workspaceName(DEFAULT_WORKSPACE_ID)]),
  timeout_s: z
    .number({ error: 'expected a number of seconds' })
    .positive({ error: 'expected more than 0 seconds' })
    .max(MAX_TIMEOUT_S, { error: `expected at most ${MAX_TIMEOUT_S} seconds` })
    .optional(),
  protocol: z.enum(['auto', 'legacy', 'modern'], { error: 'expected "auto", "legacy" or "modern"' }).default('auto'),
});
type Shape = z.output<typeof shape>;

/** Keys that only the one way to reach a server has. */
const OF_STDIO = ['args', 'env', 'cwd'] as const;
const OF_HTTP = ['headers'] as const;

function checkEntry(table: Table, block: Block, options: EntryOptions): { entry: ServerEntry | undefined; wrong: EntryProblem[] } {
  const wrong: EntryProblem[] = [];
  const server = typeof table.name === 'string' ? table.name.slice(0, 100) : null;
  const report = (path: string, message: string) => void wrong.push({ line: lineOf(block, path), server, message: `${path}: ${message}.` });
  const parsed = shape.safeParse(table);
  for (const issue of parsed.error?.issues ?? []) {
    if (issue.code === 'unrecognized_keys') for (const key of issue.keys) report(key, 'there is no such key');
    else report(issue.path.join('.'), table[String(issue.path[0])] === undefined ? 'is missing' : (keyIssue(issue) ?? issue.message));
  }
  if (!parsed.success) return { entry: undefined, wrong };
  const given = parsed.data;
  if (/^native$|^covenant/i.test(given.name) || namespaceOf(`${given.name}_x`))
    report('name', "its tools would have the names of Covenant's own; choose another");
  const transport = transportOf(given, options, report);
  if (wrong.length > 0 || !transport) return { entry: undefined, wrong };
  const { name, enabled, prefix, include, exclude, lazy, workspaces, protocol, timeout_s } = given;
  const timeoutMs = timeout_s === undefined ? options.toolTimeoutMs : Math.ceil(timeout_s * 1000);
  return { entry: { name, enabled, prefix, include, exclude, lazy, workspaces, timeoutMs, protocol, transport, line: block.line }, wrong };
}

/** A name in `env` or `headers` that is none: Zod says only that the key is wrong, and why one level deeper. */
const keyIssue = (issue: z.core.$ZodIssue): string | undefined => (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined);

/** The line of the innermost key that has one of its own. */
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
    report(command === undefined ? 'name' : 'url', 'expected either command (a program to run) or url (an address), and not both');
    return undefined;
  }
  const foreign = (url === undefined ? OF_HTTP : OF_STDIO).filter((key) => given[key] !== undefined);
  for (const key of foreign) report(key, url === undefined ? 'belongs to a server with url, not command' : 'belongs to a server with command, not url');
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
  // Node sends no request to such an address.
  else if (address.username || address.password) report('url', 'has a name or password in it; send them as headers = { Authorization = "…" }');
  for (const [name, value] of Object.entries(headers))
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) report(`headers.${name}`, 'has characters that a header cannot have');
  return { kind: 'http', url, headers };
}

function expandAt(path: string, text: string, { env, home }: EntryOptions, report: Report): string {
  const given = (name: string) => (Object.hasOwn(env, name) ? env[name] : undefined);
  const variable = (name: string) => (name === 'COVENANT_HOME' ? home : (given(name) ?? (name === 'HOME' ? homedir() : undefined)));
  try {
    const filled = expand(text, variable);
    // The system takes no such string, and would say so with the whole of it.
    if (filled.includes('\0')) report(path, 'has a NUL character in it');
    return filled;
  } catch (error) {
    if (!(error instanceof Unexpandable)) throw error;
    report(path, error.message);
    return '';
  }
}

/** `$NAME`, `${NAME}`, and `$$` for a dollar; any other dollar stands for itself. Braces that are not closed hold no name. */
const VARIABLE = /\$(?:(\$)|\{([^}]*\}?)|([A-Za-z_][A-Za-z0-9_]*))/g;

export class Unexpandable extends Error {
  override readonly name = 'Unexpandable';
}

/** What a variable that is not set should have said is not guessed: a server started with an empty token or path does harm. */
export function expand(text: string, variable: (name: string) => string | undefined): string {
  return text.replace(VARIABLE, (_all, dollar: string | undefined, braced: string | undefined, bare: string | undefined) => {
    if (dollar) return '$';
    const name = bare ?? /^([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(braced ?? '')?.[1];
    if (name === undefined) throw new Unexpandable('a dollar and braces must hold the name of a variable');
    const value = variable(name);
    if (value === undefined) throw new Unexpandable(`the variable ${name} is not set where Covenant runs`);
    return value;
  });
}
