/** Baseline: a bare Hono route that echoes JSON. It shows the minimum cost of an HTTP call on this machine. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const app = new Hono();
app.post('/api/mcp', async (c) => {
  const body = (await c.req.json()) as { arguments: { text: string } };
  return c.json({ content: [{ type: 'text', text: body.arguments.text }], isError: false });
});
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  process.stdout.write(`${JSON.stringify({ kind: 'ready', url: `http://127.0.0.1:${port}` })}\n`),
);
