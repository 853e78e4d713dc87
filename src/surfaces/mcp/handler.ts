import { createMcpHandler, isInitializeRequest, isLegacyRequest } from '@modelcontextprotocol/server';
import { isRecord } from '../../kernel/registry.ts';
import type { App } from '../../main.ts';
import { asAuthInfo, callerFrom, type McpCaller } from './caller.ts';
import { createChangeFeed } from './change-feed.ts';
import { ListenStreams } from './listen.ts';
import { createLists } from './lists.ts';
import { createRelays } from './relays.ts';
import { type McpServices, serverFor } from './server.ts';
import { Sessions } from './sessions.ts';

export type { McpCaller } from './caller.ts';

export interface McpSurface {
  /** Answers a request. Returns undefined if the request names a session that this caller does not have on this path. */
  handle(request: Request, body: unknown, caller: McpCaller): Promise<Response | undefined>;
  close(): Promise<void>;
}

/**
 * Serves the older and the newer revisions of MCP on one path. The SDK handles the protocol, and the pipe handles dispatch and schemas. If a client of an
 * older revision sends `initialize`, it gets a session. Each request without a session is handled independently.
 */
export function createMcpSurface(app: App): McpSurface {
  const services: McpServices = { app, lists: createLists(app), relays: createRelays(app) };
  const feed = createChangeFeed(app);
  const sessions = new Sessions(services, feed);
  const listening = new ListenStreams(services, feed);
  const handler = createMcpHandler(({ authInfo, era }) => serverFor(services, { caller: callerFrom(authInfo), era }), {
    onerror: (error) => app.log.debug('mcp request refused', { error }),
  });
  const single = (request: Request, body: unknown, caller: McpCaller) => handler.fetch(request, { parsedBody: body, authInfo: asAuthInfo(caller) });

  return {
    async handle(request, body, caller) {
      if (await isLegacyRequest(request, body)) {
        const id = request.headers.get('mcp-session-id');
        if (id !== null) return await sessions.serve(id, request, body, caller);
        if (isInitializeRequest(body)) return (await sessions.open(request, body, caller)) ?? (await single(request, body, caller));
      } else if (isRecord(body) && body.method === 'subscriptions/listen') return await listening.serve(request, body, caller);
      return await single(request, body, caller);
    },
    async close() {
      await Promise.all([sessions.close(), listening.close(), handler.close()]);
      await feed.close();
    },
  };
}
