import {
  type AuthInfo,
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  type Implementation,
  type ListToolsResult,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../kernel/context.ts';
import type { Toolset } from '../../kernel/contract.ts';
import type { Answer } from '../../kernel/dispatch.ts';
import type { PublishedTool } from '../../kernel/publish.ts';
import type { App } from '../../main.ts';
import { VERSION } from '../../version.ts';
import { instructionsFor } from './instructions.ts';

export interface McpCaller {
  readonly principal: Principal;
  readonly toolsets: ReadonlySet<Toolset>;
  readonly repository: string | undefined;
}

export interface McpSurface {
  handle(request: Request, body: unknown, caller: McpCaller): Promise<Response>;
  close(): Promise<void>;
}

/** How long a client may keep a list. Short: grants change, and not every client hears of it. */
const LIST_TTL_MS = 30_000;

/** MCP in both eras on one path. The pipe owns dispatch and schemas; the SDK owns the protocol. */
export function createMcpSurface(app: App): McpSurface {
  const listed = new Map(app.registry.tools().map((tool) => [tool.name, listing(tool)]));
  const handler = createMcpHandler(({ authInfo }) => serverFor(app, listed, callerFrom(authInfo)), {
    onerror: (error) => app.log.debug('mcp request refused', { error }),
  });
  return {
    handle: (request, body, caller) => handler.fetch(request, { parsedBody: body, authInfo: asAuthInfo(caller) }),
    close: () => handler.close(),
  };
}

type Listing = ListToolsResult['tools'][number];

function serverFor(app: App, listed: ReadonlyMap<string, Listing>, caller: McpCaller): Server {
  const server = new Server(
    { name: 'covenant', title: 'Covenant', version: VERSION },
    {
      capabilities: { tools: {} },
      instructions: instructionsFor(caller.toolsets),
      cacheHints: { 'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' } },
    },
  );
  server.setRequestHandler('tools/list', async () => {
    const mayCall = await app.gate.visibility(caller.principal);
    const tools = app.registry.tools().filter((tool) => caller.toolsets.has(tool.toolset) && mayCall.tool(tool.name, tool.toolset));
    return { tools: tools.map((tool) => listed.get(tool.name) as Listing) };
  });
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const answer = await app.dispatch.tool({
      name: params.name,
      args: params.arguments ?? {},
      principal: caller.principal,
      surface: 'mcp',
      toolsets: caller.toolsets,
      repository: caller.repository,
      signal: ctx.mcpReq.signal,
      correlation: correlationOf(ctx),
    });
    return toolResult(answer);
  });
  return server;
}

function listing(tool: PublishedTool): Listing {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema as Listing['inputSchema'],
    outputSchema: tool.outputSchema as NonNullable<Listing['outputSchema']>,
    annotations: { ...tool.annotations },
  };
}

/** A gateway tool's body is already a tool result; every other envelope travels both as text and as structured content. */
function toolResult({ body, isError, isToolResult }: Answer): CallToolResult {
  if (isToolResult) return body as CallToolResult;
  return { content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: body, isError };
}

/** Ids by which the clients' own logs can be joined to the journal. Bounded: they are the client's words. */
const CORRELATION_KEYS = ['claudecode/toolUseId', 'threadId', 'sessionId', 'traceparent'] as const;

function correlationOf(ctx: ServerContext): Record<string, string> | undefined {
  const found: Record<string, string> = {};
  const client = (ctx.mcpReq.envelope as Record<string, Implementation | undefined> | undefined)?.[CLIENT_INFO_META_KEY];
  if (client) found.client = `${client.name} ${client.version}`.slice(0, 100);
  for (const key of CORRELATION_KEYS) {
    const value = ctx.mcpReq._meta?.[key];
    if (typeof value === 'string') found[key] = value.slice(0, 200);
  }
  return Object.keys(found).length > 0 ? found : undefined;
}

/** The SDK hands this through untouched; the token itself has done its work and goes no further. */
function asAuthInfo(caller: McpCaller): AuthInfo {
  return { token: '', clientId: caller.principal.tokenId, scopes: [], extra: { caller } };
}

function callerFrom(authInfo: AuthInfo | undefined): McpCaller {
  const caller = authInfo?.extra?.caller as McpCaller | undefined;
  if (!caller) throw new Error('an MCP request reached the protocol without a principal');
  return caller;
}
