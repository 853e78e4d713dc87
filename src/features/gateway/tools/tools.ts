import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { CallContext } from '../../../kernel/call.ts';
import type { Toolset } from '../../../kernel/contract.ts';
import type { PublishedTool } from '../../../kernel/publish.ts';
import { isRecord, toolNamed } from '../../../kernel/registry.ts';
import type { ExternalTool, Json } from '../../../kernel/relay.ts';
import { notFound, ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Gate } from '../../core/capabilities/index.ts';
import { type DayTally, type Tally, total } from '../../core/events/index.ts';
import { loadTokenizer } from '../../workflow/recovery/index.ts';
import { clock, echo, listTools, pageOfTools, showTool, toolUsage } from './contract.ts';

export function gatewayTools(catalogue: ToolCatalogue, tally: Tally): Implementation[] {
  const dayOf = ({ reader, workspace, clock: { now } }: CallContext) => tally.read(reader, workspace, now());
  const you = async ({ principal }: CallContext) => {
    const mayCall = await catalogue.gate().visibility(principal);
    return ({ name, toolset }: OfferedItem) => (name === clock.name ? ('open' as const) : mayCall.tool(name, toolset) ? ('yes' as const) : ('no' as const));
  };
  return [
    implement(echo, { read: async ({ text }) => ok({ text }) }, { content: ({ text }) => [{ type: 'text', text }] }),
    implement(clock, { read: async (_input, ctx) => ok({ epoch_ms: ctx.clock.now() }) }),
    implement(listTools, {
      read: async (_input, ctx) => {
        const [mayCall, day] = [await you(ctx), await dayOf(ctx)];
        return ok({
          items: offeredTools(catalogue, ctx.workspace).map((tool) => ({ ...tool, you: mayCall(tool), calls_24h: usedInDay(day, [tool.name]).calls_24h })),
        });
      },
    }),
    implement(pageOfTools, {
      read: async ({ text, server, state, limit, offset }, ctx) => {
        const wanted = text?.toLowerCase();
        const fits = offeredTools(catalogue, ctx.workspace)
          .filter((tool) => (server ?? tool.server) === tool.server && (state ?? tool.state) === tool.state)
          .filter(({ name }) => wanted === undefined || name.toLowerCase().includes(wanted))
          .sort((a, b) => (a.name < b.name ? -1 : 1));
        const [mayCall, day] = [await you(ctx), await dayOf(ctx)];
        const page = fits.slice(offset, offset + limit);
        const items: Awaited<ReturnType<typeof inShort>>[] = [];
        for (const tool of page) items.push(await inShort(tool, mayCall(tool), day));
        return ok({ items, total: fits.length });
      },
    }),
    implement(showTool, {
      read: async ({ name }, ctx) => {
        const tool = offeredTools(catalogue, ctx.workspace).find((each) => each.name === toolNamed(name));
        if (!tool) throw notFound('TOOL_NOT_FOUND', `There is no tool ${JSON.stringify(name)}.`, 'covenant tools list', 'name');
        const { description, inputSchema, outputSchema, annotations } = tool;
        const short = await inShort(tool, (await you(ctx))(tool), await dayOf(ctx));
        return ok({ ...short, description, inputSchema, annotations, ...(outputSchema && { outputSchema }) });
      },
    }),
    implement(toolUsage, {
      read: async (_input, ctx) => {
        const day = await dayOf(ctx);
        const byServer = Map.groupBy(offeredTools(catalogue, ctx.workspace), ({ server }) => server);
        const items = [...byServer].map(([server, tools]) => ({
          server,
          tools: tools.filter(({ state }) => state !== 'withheld').length,
          ...usedInDay(
            day,
            tools.map(({ name }) => name),
          ),
        }));
        return ok({ items });
      },
    }),
  ];
}

async function inShort(tool: OfferedItem, you: 'open' | 'yes' | 'no', day: DayTally) {
  const { name, title, toolset, server, state } = tool;
  return { name, title, toolset, server, state, you, tokens: await tokensOf(tool), ...usedInDay(day, [name]) };
}

interface DayOfTool {
  readonly calls_24h: number;
  /** Denied, blocked or failed. */
  readonly errors_24h: number;
  /** Of the latest calls; null where there was none. */
  readonly p95_ms: number | null;
}

/** How these tools were used in the last day, taken together. */
export function usedInDay(day: DayTally, tools: readonly string[]): DayOfTool {
  const found = tools.flatMap((tool) => day.tools.get(`tool:${tool}`) ?? []);
  const counts = found.map(({ minutes }) => total(minutes));
  return {
    calls_24h: counts.reduce((sum, { calls }) => sum + calls, 0),
    errors_24h: counts.reduce((sum, { refused }) => sum + refused, 0),
    p95_ms: percentile(
      found.flatMap(({ durations }) => durations),
      0.95,
    ),
  };
}

/** The smallest value that at least so much of all is not above. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

/** By the schema, which stays the same object for as long as the tool is offered as it is. */
const known = new WeakMap<object, number>();

/** What the definition takes of a model's context, in tokens: its name, description and input schema. Null: it is withheld, and nobody has seen it. */
export async function tokensOf({ name, description, inputSchema, state }: OfferedItem): Promise<number | null> {
  if (state === 'withheld') return null;
  const counted = known.get(inputSchema);
  if (counted !== undefined) return counted;
  const tokenizer = await loadTokenizer();
  // Another server may have said much: others are served between two definitions.
  await yieldToEventLoop();
  const tokens = tokenizer.count(JSON.stringify({ name, description, inputSchema }));
  known.set(inputSchema, tokens);
  return tokens;
}

/** The catalogue is known once every feature has spoken, so it is asked for when it is needed. */
export interface ToolCatalogue {
  tools(): readonly PublishedTool[];
  external(workspace: string): readonly ExternalTool[];
  /** Tools of other servers that are not offered until a person approves them. */
  withheld(workspace: string): readonly { readonly name: string; readonly server: string }[];
  gate(): Gate;
}

export interface OfferedItem {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly toolset: Toolset;
  /** `native`, or an external one's name. */
  readonly server: string;
  readonly state: ExternalTool['state'] | 'withheld';
  readonly inputSchema: Json;
  readonly outputSchema?: Json;
  readonly annotations: Json;
}

/** In a workspace: tools of servers that do not serve it are as if they were not there. */
export const offeredTools = (catalogue: ToolCatalogue, workspace: string): OfferedItem[] => [
  ...catalogue.tools().map(native),
  ...catalogue.external(workspace).map(external),
  ...catalogue.withheld(workspace).map((tool) => ({ ...tool, ...UNSEEN })),
];

const native = (tool: PublishedTool): OfferedItem => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  toolset: tool.toolset,
  server: 'native',
  state: 'up',
  inputSchema: tool.inputSchema,
  outputSchema: tool.outputSchema,
  annotations: { ...tool.annotations },
});

const external = ({ name, server, state, toolset, definition }: ExternalTool): OfferedItem => ({
  name,
  title: typeof definition.title === 'string' ? definition.title : name,
  description: typeof definition.description === 'string' ? definition.description : '',
  toolset,
  server,
  state,
  inputSchema: definition.inputSchema,
  ...(isRecord(definition.outputSchema) ? { outputSchema: definition.outputSchema } : {}),
  annotations: isRecord(definition.annotations) ? definition.annotations : {},
});

/** Nobody has approved what such a tool says of itself: its name is enough to find it by. */
const UNSEEN = { title: '', description: '', toolset: 'gateway', state: 'withheld', inputSchema: {}, annotations: {} } as const;
