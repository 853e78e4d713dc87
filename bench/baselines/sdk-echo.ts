/** Baseline: an MCP server over HTTP that only echoes, made with the SDK's low-level server. It shows the minimum cost of an MCP call over HTTP. */
import { serve } from '@hono/node-server';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { Hono } from 'hono';

const inputSchema = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] };
const handler = createMcpHandler(() => {
  const server = new Server({ name: 'bare', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({ tools: [{ name: 'echo', inputSchema }] }));
  server.setRequestHandler('tools/call', async ({ params }) => ({ content: [{ type: 'text', text: String(params.arguments?.text) }] }));
  return server;
});
const app = new Hono();
app.all('/mcp', (c) => handler.fetch(c.req.raw));
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  process.stdout.write(`${JSON.stringify({ kind: 'ready', url: `http://127.0.0.1:${port}` })}\n`),
);
