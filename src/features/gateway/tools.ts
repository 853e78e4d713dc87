import type { PublishedTool } from '../../kernel/publish.ts';
import type { ExternalTool } from '../../kernel/relay.ts';
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
        const items = catalogue.tools().map((tool) => ({
          name: tool.name,
          title: tool.title,
          description: tool.description,
          toolset: tool.toolset,
          server: 'native',
          state: 'up' as const,
          you: tool.name === clock.name ? ('open' as const) : mayCall.tool(tool.name, tool.toolset) ? ('yes' as const) : ('no' as const),
          calls_24h: calls.get(`tool:${tool.name}`) ?? 0,
          inputSchema: tool.inputSchema,
          outputSchema: tool.outputSchema,
          annotations: { ...tool.annotations },
        }));
        return ok({ items });
      },
    }),
  ];
}
