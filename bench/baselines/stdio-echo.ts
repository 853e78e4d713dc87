/** Baseline: an MCP server over stdio that only echoes, made with the SDK's low-level server. */
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const inputSchema = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] };
serveStdio(() => {
  const server = new Server({ name: 'bare', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({ tools: [{ name: 'echo', inputSchema }] }));
  server.setRequestHandler('tools/call', async ({ params }) => ({ content: [{ type: 'text', text: String(params.arguments?.text) }] }));
  return server;
});
