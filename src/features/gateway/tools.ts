import type { Toolset } from '../../kernel/contract.ts';
import type { PublishedTool } from '../../kernel/publish.ts';
import type { ExternalTool, Json } from '../../kernel/relay.ts';
import { ok } from '../../kernel/reply.ts';
import { type Implementation, implement } from '../../kernel/tool.ts';
import type { Gate } from '../capabilities/index.ts';
import { clock, echo, listTools } from './contract.ts';
import { callsSince } from './store.ts';

const DAY_MS = 24 * 3_600_000;

/** The catalogue is known once every feature has spoken, so it is asked for when it is needed. */
export interface Catalogue {
  tools(): readonly PublishedTool[];
  external(): readonly ExternalTool[];
  /** Tools of other servers that are not offered until a person approves them. */
  withheld(): readonly { readonly name: string; readonly server: string }[];
  gate(): Gate;
}

export function gatewayTools(catalogue: Catalogue): Implementation[] {
  return [
    implement(echo, { read: async ({ text }) => ok({ text }) }, { content: ({ text }) => [{ type: 'text', text }] }),
    implement(clock, { read: async (_input, ctx) => ok({ epoch_ms: ctx.clock.now() }) }),
    implement(listTools, {
      read: async (_input, ctx) => {
        const mayCall = await catalogue.gate().visibility(ctx.principal);
        const calls = await callsSince(ctx.reader, ctx.workspace, ctx.clock.now() - DAY_MS);
        const use = (name: string, toolset: Toolset) => ({
          toolset,
          you: name === clock.name ? ('open' as const) : mayCall.tool(name, toolset) ? ('yes' as const) : ('no' as const),
          calls_24h: calls.get(`tool:${name}`) ?? 0,
        });
        const items = [
          ...catalogue.tools().map((tool) => ({ ...nativeView(tool), ...use(tool.name, tool.toolset) })),
          ...catalogue.external().map((tool) => ({ ...externalView(tool), ...use(tool.name, tool.toolset) })),
          ...catalogue.withheld().map((tool) => ({ ...tool, ...UNSEEN, ...use(tool.name, 'gateway') })),
        ];
        return ok({ items });
      },
    }),
  ];
}

const nativeView = (tool: PublishedTool) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  server: 'native',
  state: 'up' as const,
  inputSchema: tool.inputSchema,
  outputSchema: tool.outputSchema,
  annotations: { ...tool.annotations },
});

const externalView = ({ name, server, state, definition }: ExternalTool) => ({
  name,
  title: typeof definition.title === 'string' ? definition.title : name,
  description: typeof definition.description === 'string' ? definition.description : '',
  server,
  state,
  inputSchema: definition.inputSchema,
  ...(isObject(definition.outputSchema) ? { outputSchema: definition.outputSchema } : {}),
  annotations: isObject(definition.annotations) ? definition.annotations : {},
});

/** Nobody has approved what such a tool says of itself: its name is enough to find it by. */
const UNSEEN = { title: '', description: '', state: 'withheld' as const, inputSchema: {}, annotations: {} };

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
