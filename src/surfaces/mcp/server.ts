import { type CallToolResult, type LoggingLevel, Server, type ServerCapabilities, type ServerContext, type ServerOptions } from '@modelcontextprotocol/server';
import type { Json } from '../../kernel/relay.ts';
import type { App } from '../../main.ts';
import { VERSION } from '../../version.ts';
import { callerFrom, correlationOf, type McpCaller } from './caller.ts';
import { exchangeOf } from './exchange.ts';
import { GUIDE } from './guide.ts';
import { instructionsFor } from './instructions.ts';
import type { Lists } from './lists.ts';
import type { Relays, Via } from './relays.ts';
import { resourceNotFound, toolResult } from './replies.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface McpServices {
  readonly app: App;
  readonly lists: Lists;
  readonly relays: Relays;
}

/** The session state of a client that uses an older protocol revision. */
export interface SessionPart {
  logLevel: LoggingLevel;
  readonly subscriptions: Subscriptions;
  /** The number of requests in progress. */
  busy: number;
}

/** The caller determines the toolsets and the workspace. */
export interface McpServerOptions {
  readonly caller: McpCaller;
  readonly era: 'legacy' | 'modern';
  readonly session?: SessionPart;
}

/** Connects the protocol to the pipe. Each request of the newer revision has its own server, and so has each session of an older revision. */
export function serverFor({ app, lists, relays }: McpServices, { caller: { toolsets, principal: who }, era, session }: McpServerOptions): Server {
  const capabilities = capabilitiesFor(app, who.workspace, toolsets, era === 'modern' || session !== undefined);
  const server = new Server(
    { name: 'covenant', title: 'Covenant', version: VERSION },
    { capabilities, instructions: instructionsFor(toolsets), cacheHints: CACHE_HINTS },
  );
  const callerOf = (ctx: ServerContext): McpCaller => callerFrom(ctx.http?.authInfo);
  const viaOf = (ctx: ServerContext): Via => ({
    caller: callerOf(ctx),
    signal: ctx.mcpReq.signal,
    correlation: correlationOf(ctx, session && server.getClientVersion()),
    exchange: exchangeOf(ctx, era, session && { capabilities: { ...server.getClientCapabilities() }, logLevel: session.logLevel }),
  });
  /**
   * Counts the request as in progress while it runs. The cast is safe: answers of external
   * servers have the shape of the protocol, and the SDK validates them where required.
   */
  async function whileBusy<T>(work: Promise<Json>): Promise<T> {
    if (session) session.busy++;
    try {
      return (await work) as T;
    } finally {
      if (session) session.busy--;
    }
  }

  async function call(name: string, args: Json, ctx: ServerContext): Promise<Json> {
    const { caller, ...via } = viaOf(ctx);
    const { principal, toolsets, repository, place } = caller;
    const result = toolResult(await app.dispatch.tool({ ...via, name, args, principal, toolsets, repository, place, surface: 'mcp' }));
    const external = era === 'legacy' ? app.upstreams.in(principal.workspace).tools.tool(name) : undefined;
    // In the older revisions, structured content must be an object, so the SDK wraps other values.
    return external ? server.projectCallToolResult(result as CallToolResult, external.definition.outputSchema as Json | undefined) : result;
  }

  server.setRequestHandler('tools/list', (_request, ctx) => lists.tools(callerOf(ctx)));
  server.setRequestHandler('tools/call', ({ params }, ctx) => whileBusy(call(params.name, params.arguments ?? {}, ctx)));
  if (capabilities.prompts) {
    server.setRequestHandler('prompts/list', (_request, ctx) => lists.prompts(callerOf(ctx)));
    server.setRequestHandler('prompts/get', ({ params }, ctx) => whileBusy(relays.prompt(params.name, params.arguments, viaOf(ctx))));
  }
  server.setRequestHandler('resources/list', (_request, ctx) => lists.resources(callerOf(ctx)));
  server.setRequestHandler('resources/templates/list', (_request, ctx) => lists.resourceTemplates(callerOf(ctx)));
  server.setRequestHandler('resources/read', ({ params }, ctx) => whileBusy(relays.resource(params.uri, viaOf(ctx))));
  if (capabilities.resources?.subscribe && session) {
    server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, ctx) => {
      // The guide never changes while the server runs.
      if (uri !== GUIDE.uri && !(await session.subscriptions.add(uri, viaOf(ctx)))) throw resourceNotFound(uri);
      return {};
    });
    server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
      session.subscriptions.remove(uri);
      return {};
    });
  }
  if (capabilities.completions) server.setRequestHandler('completion/complete', ({ params }, ctx) => whileBusy(relays.completion(params, viaOf(ctx))));
  if (capabilities.logging && session) {
    server.setRequestHandler('logging/setLevel', ({ params: { level } }) => {
      session.logLevel = level;
      return {};
    });
  }
  return server;
}

/** The time for which a client may cache a list. It is short, because grants change and not every client gets notifications. */
const LIST_TTL_MS = 30_000;
const LISTS = { ttlMs: LIST_TTL_MS, cacheScope: 'private' } as const;

/** Clients may cache lists. They must not cache resources, which can change without a notification. */
const CACHE_HINTS: ServerOptions['cacheHints'] = {
  'tools/list': LISTS,
  'prompts/list': LISTS,
  'resources/list': LISTS,
  'resources/templates/list': LISTS,
  'resources/read': { ttlMs: 0, cacheScope: 'private' },
};

/**
 * Returns the capabilities that the server announces. `reachable`: whether notifications can reach the client. If not, the server announces no notifications.
 */
function capabilitiesFor(app: App, workspace: string, toolsets: McpCaller['toolsets'], reachable: boolean): ServerCapabilities {
  const changes = reachable ? { listChanged: true } : {};
  if (!toolsets.has('gateway')) return { tools: changes, resources: {} };
  const { prompts, resources, completions, logging } = app.upstreams.in(workspace).abilities();
  return {
    tools: changes,
    ...(prompts ? { prompts: changes } : {}),
    resources: { ...changes, ...(resources && reachable ? { subscribe: true } : {}) },
    ...(completions ? { completions: {} } : {}),
    ...(logging && reachable ? { logging: {} } : {}),
  };
}
