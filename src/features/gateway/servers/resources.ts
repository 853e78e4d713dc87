import type { Json } from '../../../kernel/relay.ts';
import type { ServerEntry } from './entry.ts';
import type { UpstreamFacts } from './store.ts';
import { MAX_STEPS, matchesTemplate } from './uri-template.ts';

export interface ExternalResource {
  readonly server: string;
  readonly definition: Json;
}

/** The resources of all servers in one list, and the servers that have them. It is built when a list changes, because every call uses it. */
export interface ResourceIndex {
  readonly resources: readonly ExternalResource[];
  readonly templates: readonly ExternalResource[];
  /** Finds the server for a URI: a server that lists it, otherwise one with a template that matches, otherwise the only server with resources. */
  holderOf(uri: string, mayRead: (server: string) => boolean): string | undefined;
  holderOfTemplate(uriTemplate: string, mayRead: (server: string) => boolean): string | undefined;
}

/** Builds the index in the order of the file. If several servers have the same resource, the first of them in the file is used. */
export function indexResources(servers: readonly { readonly entry: ServerEntry; readonly facts: UpstreamFacts }[]): ResourceIndex {
  const resources: ExternalResource[] = [];
  const templates: ExternalResource[] = [];
  const byUri = new Map<string, string[]>();
  const byTemplate = new Map<string, string[]>();
  for (const { entry, facts } of servers) {
    for (const definition of facts.resources) {
      resources.push({ server: entry.name, definition: marked(entry, definition) });
      push(byUri, String(definition.uri), entry.name);
    }
    for (const definition of facts.resourceTemplates) {
      templates.push({ server: entry.name, definition: marked(entry, definition) });
      push(byTemplate, String(definition.uriTemplate), entry.name);
    }
  }
  const readers = servers.filter(({ facts }) => facts.capabilities.resources).map(({ entry }) => entry.name);
  return {
    resources,
    templates,
    holderOf(uri, mayRead) {
      const listed = byUri.get(uri)?.find(mayRead);
      if (listed !== undefined) return listed;
      const budget = { steps: MAX_STEPS };
      for (const [template, holders] of byTemplate) {
        const holder = holders.find(mayRead);
        if (holder !== undefined && matchesTemplate(template, uri, budget)) return holder;
      }
      const readable = readers.filter(mayRead);
      return readable.length === 1 ? readable[0] : undefined;
    },
    holderOfTemplate: (uriTemplate, mayRead) => byTemplate.get(uriTemplate)?.find(mayRead),
  };
}

/** Adds the server to the name, because people see the name. The URI stays unchanged. */
function marked({ name: server, prefix }: ServerEntry, definition: Json): Json {
  const name = prefix && typeof definition.name === 'string' ? { name: `${server}_${definition.name}` } : {};
  const meta = typeof definition._meta === 'object' && definition._meta !== null ? definition._meta : {};
  return { ...definition, ...name, _meta: { ...meta, 'covenant/server': server } };
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
