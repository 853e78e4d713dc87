import type {
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  ServerCapabilities,
  ServerOptions,
} from '@modelcontextprotocol/server';
import type { PublishedTool } from '../../kernel/publish.ts';
import type { App } from '../../main.ts';
import type { McpCaller } from './caller.ts';

/** How long a client may keep a list. Short: grants change, and not every client hears of it. */
const LIST_TTL_MS = 30_000;
const LISTS = { ttlMs: LIST_TTL_MS, cacheScope: 'private' } as const;

/** Of what is read nothing is promised but that it is this caller's alone. */
export const CACHE_HINTS: ServerOptions['cacheHints'] = {
  'tools/list': LISTS,
  'prompts/list': LISTS,
  'resources/list': LISTS,
  'resources/templates/list': LISTS,
  'resources/read': { ttlMs: 0, cacheScope: 'private' },
};

/** `reachable`: the client can be told of changes. Nothing is promised that nobody would send. */
export function capabilitiesFor(app: App, workspace: string, toolsets: McpCaller['toolsets'], reachable: boolean): ServerCapabilities {
  const told = reachable ? { listChanged: true } : {};
  if (!toolsets.has('gateway')) return { tools: told };
  const { prompts, resources, completions, logging } = app.upstreams.in(workspace).abilities();
  return {
    tools: told,
    ...(prompts ? { prompts: told } : {}),
    ...(resources ? { resources: reachable ? { ...told, subscribe: true } : {} } : {}),
    ...(completions ? { completions: {} } : {}),
    ...(logging && reachable ? { logging: {} } : {}),
  };
}

type ListedTool = ListToolsResult['tools'][number];

/** Lists of what a caller may use on its path: the product's own tools by name, then those of other servers by name. */
export interface Lists {
  tools(caller: McpCaller): Promise<ListToolsResult>;
  prompts(caller: McpCaller): Promise<ListPromptsResult>;
  resources(caller: McpCaller): Promise<ListResourcesResult>;
  resourceTemplates(caller: McpCaller): Promise<ListResourceTemplatesResult>;
}

export function createLists(app: App): Lists {
  const native = new Map(app.registry.tools().map((tool) => [tool.name, listedTool(tool)]));
  const { upstreams, gate } = app;
  return {
    async tools({ principal, toolsets }) {
      const may = await gate.visibility(principal);
      const usable = ({ name, toolset }: { name: string; toolset: PublishedTool['toolset'] }) => toolsets.has(toolset) && may.tool(name, toolset);
      const own = app.registry.tools().filter(usable);
      const external = toolsets.has('gateway') ? upstreams.in(principal.workspace).tools.tools().filter(usable) : [];
      return { tools: [...own.map(({ name }) => native.get(name) as ListedTool), ...external.map(({ definition }) => definition as unknown as ListedTool)] };
    },
    async prompts({ principal }) {
      const may = await gate.visibility(principal);
      const prompts = definitions(upstreams.in(principal.workspace).prompts(), ({ name }) => may.prompt(name));
      return { prompts: prompts as ListPromptsResult['prompts'] };
    },
    async resources({ principal }) {
      const may = await gate.visibility(principal);
      const resources = definitions(upstreams.in(principal.workspace).resources(), ({ server }) => may.resource(server));
      return { resources: resources as ListResourcesResult['resources'] };
    },
    async resourceTemplates({ principal }) {
      const may = await gate.visibility(principal);
      const templates = definitions(upstreams.in(principal.workspace).resourceTemplates(), ({ server }) => may.resource(server));
      return { resourceTemplates: templates as ListResourceTemplatesResult['resourceTemplates'] };
    },
  };
}

function listedTool(tool: PublishedTool): ListedTool {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema as ListedTool['inputSchema'],
    outputSchema: tool.outputSchema as NonNullable<ListedTool['outputSchema']>,
    annotations: { ...tool.annotations },
  };
}

/** Of those that the caller may use, what their servers say of them. */
const definitions = <T extends { readonly definition: unknown }>(all: readonly T[], may: (one: T) => boolean): unknown =>
  all.filter(may).map(({ definition }) => definition);
