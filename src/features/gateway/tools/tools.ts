import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { CallContext, Principal } from '../../../kernel/call.ts';
import { toolNamed } from '../../../kernel/registry.ts';
import { notFound, ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { type DayTally, type Tally, totalCalls } from '../../core/events/index.ts';
import { loadTokenizer } from '../../workflow/recovery/index.ts';
import { clock, echo, listTools, pageOfTools, showTool, toolUsage } from './contract.ts';
import { type OfferedItem, offeredTools, type ToolCatalogue } from './offered-tools.ts';

export function gatewayTools(catalogue: ToolCatalogue, tally: Tally): Implementation[] {
  const dayOf = ({ reader, workspace, clock: { now } }: CallContext) => tally.read(reader, workspace, now());
  const callableBy = async (principal: Principal) => {
    const mayCall = await catalogue.gate().visibility(principal);
    return ({ name, toolset }: OfferedItem) => (name === clock.name ? ('open' as const) : mayCall.tool(name, toolset) ? ('yes' as const) : ('no' as const));
  };
  return [
    implement(echo, { read: async ({ text }) => ok({ text }) }, { content: ({ text }) => [{ type: 'text', text }] }),
    implement(clock, { read: async (_input, ctx) => ok({ epoch_ms: ctx.clock.now() }) }),
    implement(listTools, {
      read: async (_input, ctx) => {
        const [callable, day] = [await callableBy(ctx.principal), await dayOf(ctx)];
        return ok({
          items: offeredTools(catalogue, ctx.workspace).map((tool) => ({ ...tool, you: callable(tool), calls_24h: usedInDay(day, [tool.name]).calls_24h })),
        });
      },
    }),
    implement(pageOfTools, {
      read: async ({ text, server, state, limit, offset }, ctx) => {
        const sought = text?.toLowerCase();
        const fits = offeredTools(catalogue, ctx.workspace)
          .filter((tool) => (server ?? tool.server) === tool.server && (state ?? tool.state) === tool.state)
          .filter(({ name }) => sought === undefined || name.toLowerCase().includes(sought))
          .sort((a, b) => (a.name < b.name ? -1 : 1));
        const [callable, day] = [await callableBy(ctx.principal), await dayOf(ctx)];
        const page = fits.slice(offset, offset + limit);
        const items: Awaited<ReturnType<typeof summaryOf>>[] = [];
        for (const tool of page) items.push(await summaryOf(tool, callable(tool), day));
        return ok({ items, total: fits.length });
      },
    }),
    implement(showTool, {
      read: async ({ name }, ctx) => {
        const tool = offeredTools(catalogue, ctx.workspace).find((each) => each.name === toolNamed(name));
        if (!tool) throw notFound('TOOL_NOT_FOUND', `No tool is named ${JSON.stringify(name)}.`, 'Run `covenant tools list` for the names.', 'name');
        const { description, inputSchema, outputSchema, annotations } = tool;
        const summary = await summaryOf(tool, (await callableBy(ctx.principal))(tool), await dayOf(ctx));
        return ok({ ...summary, description, inputSchema, annotations, ...(outputSchema && { outputSchema }) });
      },
    }),
    implement(toolUsage, {
      read: async (_input, ctx) => {
        const day = await dayOf(ctx);
        const byServer = Map.groupBy(offeredTools(catalogue, ctx.workspace), ({ server }) => server);
        const items = [...byServer].map(([server, tools]) => {
          const names = tools.map(({ name }) => name);
          return { server, tools: tools.filter(({ state }) => state !== 'withheld').length, ...usedInDay(day, names) };
        });
        return ok({ items });
      },
    }),
  ];
}

async function summaryOf(tool: OfferedItem, you: 'open' | 'yes' | 'no', day: DayTally) {
  const { name, title, toolset, server, state } = tool;
  return { name, title, toolset, server, state, you, tokens: await definitionTokens(tool), ...usedInDay(day, [name]) };
}

/** Caches token counts by schema object, because the object stays the same until the offered tool changes. */
const counted = new WeakMap<object, number>();

/** The number of tokens that name, description and input schema take in a model's context. Null if the tool is withheld. */
async function definitionTokens({ name, description, inputSchema, state }: OfferedItem): Promise<number | null> {
  if (state === 'withheld') return null;
  const known = counted.get(inputSchema);
  if (known !== undefined) return known;
  const tokenizer = await loadTokenizer();
  // Lets other calls run after each definition, because the definition of an external tool can be long and slow to process.
  await yieldToEventLoop();
  const tokens = tokenizer.count(JSON.stringify({ name, description, inputSchema }));
  counted.set(inputSchema, tokens);
  return tokens;
}

interface DayOfTool {
  readonly calls_24h: number;
  /** Denied, blocked and failed calls. */
  readonly errors_24h: number;
  /** The 95th percentile of the duration of the latest calls. Null if there were no calls. */
  readonly p95_ms: number | null;
}

/** Combines the use of several tools in the last day. */
function usedInDay(day: DayTally, tools: readonly string[]): DayOfTool {
  const found = tools.flatMap((tool) => day.tools.get(`tool:${tool}`) ?? []);
  const counts = found.map(({ minutes }) => totalCalls(minutes));
  const durations = found.flatMap((tool) => tool.durations);
  return {
    calls_24h: counts.reduce((sum, { calls }) => sum + calls, 0),
    errors_24h: counts.reduce((sum, { refused }) => sum + refused, 0),
    p95_ms: percentile(durations, 0.95),
  };
}

/** Returns the smallest of the values for which at least `share` of all values are not larger. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}
