import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';

export interface RecordingServer {
  readonly url: string;
  /** The headers and body of each request. */
  readonly requests: { headers: Headers; body: Record<string, unknown> }[];
  /** Breaks all open connections. */
  drop(): void;
}

/**
 * Starts an HTTP server that supports the newer protocol revision and records all requests. It has the resource `note:one`, and its tool `update` sends
 * notifications about this resource. Its tool `region` requires the argument to be repeated in a header. Requests without the token are answered with 401.
 */
export async function recordingServer(token?: string): Promise<RecordingServer> {
  const requests: RecordingServer['requests'] = [];
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: 'recording', version: '1.0.0' }, { capabilities: { tools: {}, resources: { subscribe: true } } });
      const region = { type: 'string', 'x-mcp-header': 'Region' };
      server.setRequestHandler('tools/list', () => ({
        tools: [
          { name: 'update', inputSchema: { type: 'object' } },
          { name: 'region', inputSchema: { type: 'object', properties: { region } }, outputSchema: { type: 'object', required: ['never'] } },
        ],
      }));
      server.setRequestHandler('tools/call', ({ params }) => {
        if (params.name === 'update') handler.notify.resourceUpdated('note:one');
        return { content: [{ type: 'text', text: 'done' }] };
      });
      server.setRequestHandler('resources/list', () => ({ resources: [{ uri: 'note:one', name: 'one' }] }));
      server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
      return server;
    },
    { legacy: 'reject' },
  );
  const http = createServer(
    getRequestListener(async (request) => {
      if (token !== undefined && request.headers.get('authorization') !== `Bearer ${token}`) return new Response('who are you?', { status: 401 });
      requests.push({ headers: request.headers, body: JSON.parse(await request.clone().text()) as Record<string, unknown> });
      return await handler.fetch(request);
    }),
  );
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await handler.close();
    const closed = new Promise<void>((resolve) => http.close(() => resolve()));
    http.closeAllConnections();
    await closed;
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, requests, drop: () => http.closeAllConnections() };
}
