import { readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ListToolsResult } from '@modelcontextprotocol/server';
import { covibeHome, readJson, replaceFile } from '../../wire/covibe-home.ts';
import type { BridgeSettings } from './settings.ts';

/** Stores the last tool list from the server, for clients that start while the server is unreachable. The list contains no secrets. */
export interface LastList {
  recall(): ListToolsResult | undefined;
  keep(list: ListToolsResult): void;
}

/** The maximum number of stored lists, which is enough for several agents and servers. If there are more files, the oldest file is deleted. */
const MAX_FILES = 20;
const MAX_BYTES = 2 * 1024 * 1024;

/** One list per token, because tokens can have different tools. */
export function lastLists({ origin, toolsets }: BridgeSettings, env: NodeJS.ProcessEnv): (token: string | undefined) => LastList {
  const folder = join(covibeHome(env), 'tools');
  const kept = new Map<string, string>();
  return (token) => {
    const path = join(folder, `${digestOf([origin, toolsets ?? null, token ?? null])}.json`);
    return {
      recall() {
        const text = kept.get(path);
        const list = text === undefined ? readJson(path) : JSON.parse(text);
        return isToolList(list) ? list : undefined;
      },
      keep({ tools, nextCursor }) {
        const text = JSON.stringify({ tools });
        // Does not store a partial list, because it would look like a complete list.
        if (nextCursor !== undefined || kept.get(path) === text || Buffer.byteLength(text) > MAX_BYTES) return;
        kept.set(path, text);
        try {
          replaceFile(path, text);
          forgetOldest(folder);
        } catch {
          // If the home is read-only, this process still has the list in memory.
        }
      },
    };
  };
}

/** Loads the crypto module only when it is needed, because loading it at the start would delay the bridge. By then the bridge waits for the server anyway. */
function digestOf(value: unknown): string {
  const { createHash } = createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto');
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}

function forgetOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => ({ path: join(folder, name), changed: statSync(join(folder, name)).mtimeMs }));
  for (const { path } of files.toSorted((a, b) => b.changed - a.changed).slice(MAX_FILES)) rmSync(path, { force: true });
}

export function isToolList(value: unknown): value is ListToolsResult {
  const { tools } = (value ?? {}) as { tools?: unknown };
  return Array.isArray(tools) && tools.every((tool) => typeof tool?.name === 'string' && tool.inputSchema?.type === 'object');
}
