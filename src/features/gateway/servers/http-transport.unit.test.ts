import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { recordingServer } from '../../../testing/stand-ins/recording-server.ts';
import { EVERYTHING, exchangeOf, upstreamApp } from '../../../testing/stand-ins/upstreams.ts';
import { HttpTransport } from './http-transport.ts';

const textOf = ({ body }: { body: Record<string, unknown> }) => (body.content as { text: string }[])[0]?.text;

test('the headers of the entry are sent with every request; if they are missing, the problem says to set them', async () => {
  const far = await recordingServer('let-me-in');
  const app = await upstreamApp([
    { name: 'known', url: far.url, headers: { Authorization: 'Bearer let-me-in', 'X-Team': 'blue' } },
    { name: 'stranger', url: far.url },
  ]);
  await Promise.all([app.event('upstream.started', 'known'), app.event('upstream.down', 'stranger')]);
  await app.call('known_update', {});
  expect(new Set(far.requests.map(({ headers }) => headers.get('x-team')))).toEqual(new Set(['blue']));
  expect((await app.server('stranger')).problem).toBe('It returned HTTP 401: it requires credentials. Set them under `headers` of its entry in secrets.toml.');
});

test('marked arguments are repeated as headers for a newer server, and a result that violates its own schema still passes', async () => {
  const far = await recordingServer();
  const app = await upstreamApp([{ name: 'far', url: far.url }]);
  await app.event('upstream.started', 'far');
  expect(textOf(await app.call('far_region', { region: 'north' }))).toBe('done');
  const call = far.requests.find(({ body }) => body.method === 'tools/call');
  expect(call?.headers.get('mcp-param-region')).toBe('north');
  expect(call?.headers.get('mcp-name')).toBe('region');
});

test('each request has its own signal, so that listeners do not accumulate on the connection', async () => {
  const signals: unknown[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_url, init) => {
    signals.push(init?.signal);
    return new Response(null, { status: 202 });
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const transport = new HttpTransport({ kind: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} });
  await transport.start();
  for (let at = 0; at < 3; at++) await transport.send({ jsonrpc: '2.0', method: 'notifications/progress' });
  await transport.close();
  expect(signals.map((signal) => (signal as AbortSignal).aborted)).toEqual([true, true, true]);
  expect(new Set(signals).size).toBe(3);
});

test('a real server over Streamable HTTP works like one over stdio [gateway.config.url]', async () => {
  const port = await freePort();
  const server = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(server, 'exit');
  onTestFinished(async () => {
    server.kill('SIGKILL');
    await exited;
  });
  await new Promise<void>((resolve) => server.stderr.on('data', (chunk) => /listening/i.test(String(chunk)) && resolve()));
  const app = await upstreamApp([{ name: 'all', url: `http://127.0.0.1:${port}/mcp` }]);
  await app.event('upstream.started', 'all');
  expect(await app.server('all')).toMatchObject({ transport: 'http', state: 'up', pid: null });
  const told: unknown[] = [];
  const exchange = exchangeOf({ progress: ({ progress }) => told.push(progress) });
  expect(textOf(await app.call('all_trigger-long-running-operation', { duration: 0.1, steps: 2 }, { exchange }))).toContain('completed');
  expect(told).toEqual([1, 2]);
  // If the server is killed during a call, the caller gets the error immediately and does not wait for the timeout.
  const call = app.call('all_trigger-long-running-operation', { duration: 20, steps: 20 });
  setTimeout(() => server.kill('SIGKILL'), 100);
  expect((await call).reply).toMatchObject({ code: 'UPSTREAM_DOWN' });
});

test('a broken stream or an invalid answer ends the call immediately, although the server lives', { timeout: 10_000 }, async () => {
  const far = await handWritten({
    cut: ({ response }) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': that was all\n\n'),
    torn: ({ response }) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': more\n\n', () => response.destroy()),
    odd: ({ response, id }) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result: 5 })),
    noise: ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    // This is more than the limit for an answer.
    wordy: ({ response }) => response.writeHead(500).end('x'.repeat(20 * 1024 * 1024)),
  });
  const app = await upstreamApp([{ name: 'far', url: far }]);
  await app.event('upstream.started', 'far');
  expect((await app.call('far_cut', {})).reply).toMatchObject({ code: 'UPSTREAM_DOWN', message: expect.stringContaining('ended its answer') });
  expect((await app.call('far_odd', {})).reply).toMatchObject({ code: 'UPSTREAM_INVALID' });
  expect((await app.call('far_torn', {})).reply).toMatchObject({ code: 'UPSTREAM_DOWN' });
  expect((await app.call('far_noise', {})).reply).toMatchObject({ code: 'UPSTREAM_INVALID' });
  expect((await app.call('far_wordy', {})).reply).toMatchObject({ code: 'UPSTREAM_DOWN', message: expect.stringContaining('HTTP 500') });
  expect((await app.server('far')).state).toBe('up');
});

test('a server cannot make Covenant reopen its stream immediately or only after a thousand years', async () => {
  for (const wish of ['0', '99999999999999']) {
    let opened = 0;
    const far = await handWritten({}, (response) => {
      opened++;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`retry: ${wish}\nid: 1\ndata:\n\n`);
    });
    const app = await upstreamApp([{ name: 'far', url: far }]);
    await app.event('upstream.started', 'far');
    await app.until(() => opened > 0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(opened).toBe(1);
  }
});

interface ToolRequest {
  readonly response: ServerResponse;
  readonly id: unknown;
}

/**
 * An HTTP server with the older revision. The test defines the answers of its tools. `get` is the stream for messages that the server sends by
 * itself.
 */
async function handWritten(tools: Record<string, (asked: ToolRequest) => unknown>, get?: (response: ServerResponse) => unknown): Promise<string> {
  const http = createHttpServer(async (request, response) => {
    if (request.method !== 'POST') return request.method === 'GET' && get ? get(response) : response.writeHead(405).end();
    const { id, method, params } = (await json(request)) as { id?: unknown; method: string; params: { name: string } };
    const answer = (result: object) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (id === undefined) return response.writeHead(202).end();
    if (method === 'initialize') {
      return answer({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'hand', version: '1' } });
    }
    if (method === 'ping') return answer({});
    if (method === 'tools/list') return answer({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) });
    if (method === 'tools/call') return tools[params.name]?.({ response, id });
    return response.writeHead(400).end();
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  return `http://127.0.0.1:${(http.address() as { port: number }).port}/mcp`;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}
