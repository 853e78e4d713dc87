import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CallAnswer } from '../../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID } from '../../kernel/ids.ts';
import type { Exchange, Json } from '../../kernel/relay.ts';
import type { JournalEvent } from '../../storage/journal.ts';
import { type TestApp, type TestAppOptions, testApp } from '../app.ts';
import { ROOT } from '../programs/program.ts';
import { temporaryDatabase } from '../store/database.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The values of an `[[mcp.server]]` table. */
export type TestEntry = { readonly name: string } & Readonly<Record<string, unknown>>;

export interface UpstreamApp extends TestApp {
  /** Writes these entries to secrets.toml. The server notices the change by itself. */
  configure(...entries: TestEntry[]): void;
  /** Calls the tool as the operator, after granting it to the operator. */
  call(name: string, args: Json, options?: { exchange?: Exchange; signal?: AbortSignal }): Promise<CallAnswer>;
  /** Returns the first matching event. If there is none yet, waits for it. */
  event(kind: string, server: string, nth?: number): Promise<JournalEvent>;
  /** Waits until the condition holds. */
  until<T>(look: () => T | undefined | false | Promise<T | undefined | false>, what?: string): Promise<T>;
  server(name: string): Promise<Record<string, unknown>>;
}

const PATIENCE_MS = 15_000;

/** The whole product with external servers, until the test ends. */
export async function upstreamApp(entries: readonly TestEntry[], options: TestAppOptions = {}): Promise<UpstreamApp> {
  const database = options.database ?? (await temporaryDatabase());
  mkdirSync(database.home, { recursive: true });
  const configure = (...list: TestEntry[]) => writeFileSync(join(database.home, 'secrets.toml'), toToml(list), { mode: 0o600 });
  configure(...entries);
  const test = await testApp({ ...options, database });
  const granted = new Set<string>();

  const until: UpstreamApp['until'] = async (look, what = 'what the test waits for') => {
    const give = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = await look();
      if (found !== undefined && found !== false) return found as never;
      if (Date.now() > give) throw new Error(`${what} has not come:\n${test.logged.slice(-10).join('')}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  return {
    ...test,
    configure,
    until,
    async call(name, args, { exchange, signal } = {}) {
      if (!granted.has(name)) await test.done('capabilities.grant', { action: `tool.call.${name}` });
      granted.add(name);
      return await test.app.dispatch.tool({ name, args, principal: test.operator.principal, surface: 'mcp', exchange, signal });
    },
    event: (kind, server, nth = 1) =>
      until(async () => {
        const found = (await test.events({ kind }, DEFAULT_WORKSPACE_ID)).filter(({ subject }) => subject === `server:${server}`);
        return found[nth - 1];
      }, `the event ${kind} of ${server}`),
    async server(name) {
      const { items } = (await test.done('servers.list', {})) as { items: Record<string, unknown>[] };
      const found = items.find((item) => item.name === name);
      if (!found) throw new Error(`no server ${name}`);
      return found;
    },
  };
}

/** Returns the command of a server in `programs/children`. These servers do not use an MCP library, so that they can misbehave. */
export const child = (file: string, env: Record<string, string> = {}) => ({ command: process.execPath, args: [here(`../programs/children/${file}.mjs`)], env });

/** The command of a stdio server that supports only the newer protocol revision. */
export const MODERN_STDIO = { command: process.execPath, args: [fileURLToPath(new URL('./modern-stdio.ts', import.meta.url))] };

export const EVERYTHING = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
export const FILESYSTEM = join(ROOT, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
export const npm = (file: string, ...args: string[]) => ({ command: process.execPath, args: [file, ...args] });

function toToml(entries: readonly TestEntry[]): string {
  return entries
    .map(
      (entry) =>
        `[[mcp.server]]\n${Object.entries(entry)
          .map(([key, value]) => `${key} = ${tomlValue(value)}\n`)
          .join('')}`,
    )
    .join('\n');
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${JSON.stringify(key)} = ${tomlValue(inner)}`)
      .join(', ')} }`;
  }
  return JSON.stringify(value);
}

/** Describes a caller's client in the same way as a surface does. */
export function exchangeOf(parts: Partial<Exchange> = {}): Exchange {
  return { capabilities: {}, meta: {}, ...parts };
}
