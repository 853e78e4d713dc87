import { ProtocolErrorCode } from '@modelcontextprotocol/client';
import { isRecord } from '../../../kernel/registry.ts';
import type { Json } from '../../../kernel/relay.ts';
import { rpcErrorOf } from './failures.ts';
import { isTooDeep, MAX_LEVELS } from './nesting.ts';
import type { ServerListing, UpstreamFacts } from './store.ts';

const MAX_PAGES = 100;
const MAX_ITEMS = 10_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Sends one request and returns its result. */
export type Ask = (method: string, params?: Json) => Promise<Json>;

/** Reads all pages of all lists of a server. Tools are always listed. Prompts and resources are listed only if the server declares them. */
export async function listAll(ask: Ask, spoken: Omit<UpstreamFacts, 'resources' | 'resourceTemplates'>): Promise<ServerListing> {
  const { capabilities } = spoken;
  const listedTools = allPages(ask, 'tools/list', 'tools', 'name');
  const tools = await (capabilities.tools ? listedTools : emptyWithoutMethod(listedTools));
  const prompts = capabilities.prompts ? await allPages(ask, 'prompts/list', 'prompts', 'name') : [];
  const has = Boolean(capabilities.resources);
  const resources = has ? await emptyWithoutMethod(allPages(ask, 'resources/list', 'resources', 'uri')) : [];
  const resourceTemplates = has ? await emptyWithoutMethod(allPages(ask, 'resources/templates/list', 'resourceTemplates', 'uriTemplate')) : [];
  return { facts: { ...spoken, resources, resourceTemplates }, tools, prompts };
}

async function allPages(ask: Ask, method: string, key: string, id: string): Promise<Json[]> {
  const items: Json[] = [];
  let cursor: string | undefined;
  let size = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await ask(method, cursor === undefined ? undefined : { cursor });
    const found = result[key];
    if (!Array.isArray(found)) throw new Error(`its answer to ${method} has no list of ${key}`);
    if (isTooDeep(found)) throw new Error(`its answer to ${method} is nested deeper than ${MAX_LEVELS} levels`);
    for (const item of found) if (isRecord(item) && typeof item[id] === 'string' && item[id] !== '') items.push(item);
    size += JSON.stringify(found).length;
    if (items.length > MAX_ITEMS || size > MAX_CHARACTERS) break;
    const { nextCursor } = result;
    if (typeof nextCursor !== 'string' || nextCursor === '' || nextCursor === cursor) return items;
    cursor = nextCursor;
  }
  throw new Error(`its answer to ${method} exceeds the limit of ${MAX_PAGES} pages, ${MAX_ITEMS} entries or ${MAX_CHARACTERS} characters`);
}

/** Returns an empty list if the server does not know the method. */
async function emptyWithoutMethod(items: Promise<Json[]>): Promise<Json[]> {
  try {
    return await items;
  } catch (error) {
    if (rpcErrorOf(error)?.code === ProtocolErrorCode.MethodNotFound) return [];
    throw error;
  }
}
