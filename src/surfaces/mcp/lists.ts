import type { ListPromptsResult, ListResourcesResult, ListResourceTemplatesResult, ListToolsResult } from '@modelcontextprotocol/server';
import type { PublishedTool } from '../../kernel/publish.ts';
import type { App } from '../../main.ts';
import type { McpCaller } from './caller.ts';
import { GUIDE } from './guide.ts';

type ListedTool = ListToolsResult['tools'][number];

/** Lists the tools, prompts and resources that a caller may use on its path. Our own tools come first, sorted by name. The guide is the first resource. */
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
    async resources({ principal, toolsets }) {
      if (!toolsets.has('gateway')) return { resources: [GUIDE] };
      const may = await gate.visibility(principal);
      const resources = definitions(upstreams.in(principal.workspace).resources(), ({ server }) => may.resource(server));
      return { resources: [GUIDE, ...(resources as ListResourcesResult['resources'])] };
    },
    async resourceTemplates({ principal, toolsets }) {
      if (!toolsets.has('gateway')) return { resourceTemplates: [] };
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

/** Returns the definitions that the caller may use, in the form in which their servers wrote them. */
const definitions = <T extends { readonly definition: unknown }>(all: readonly T[], may: (one: T) => boolean): unknown =>
  all.filter(may).map(({ definition }) => definition);
