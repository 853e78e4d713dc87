import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { ReadableStream } from 'node:stream/web';
import { expect, onTestFinished, test, vi } from 'vitest';
import { recordingServer } from '../../testing/recording-server.ts';
import { EVERYTHING, exchangeOf, upstreamApp } from '../../testing/upstreams.ts';
import { withBoundedBody } from './bounded-body.ts';
import { HttpTransport } from './http.ts';

const textOf = ({ body }: { body: Record<string, unknown> }) => (body.content as { text: string }[])[0]?.text;

test('the headers of the entry go with every request; without them the problem says to set them', async () => {
  const far = await recordingServer('let-me-in');
  const app = await upstreamApp([
    { name: 'known', url: far.url, headers: { Authorization: 'Bearer let-me-in', 'X-Team': 'blue' } },
    { name: 'stranger', url: far.url },
  ]);
  await Promise.all([app.event('upstream.started', 'known'), app.event('upstream.down', 'stranger')]);
  await app.call('known_update', {});
  expect(new Set(far.requests.map(({ headers }) => headers.get('x-team')))).toEqual(new Set(['blue']));
  expect((await app.server('stranger')).problem).toBe('It answered HTTP 401: it wants credentials. Set them under `headers` in its entry in secrets.toml.');
});

test('what a newer server wants repeated as headers is, and a result that breaks its own schema passes all the same', async () => {
  const far = await recordingServer();
  const app = await upstreamApp([{ name: 'far', url: far.url }]);
  await app.event('upstream.started', 'far');
  expect(textOf(await app.call('far_region', { region: 'north' }))).toBe('done');
  const call = far.requests.find(({ body }) => body.method === 'tools/call');
  expect(call?.headers.get('mcp-param-region')).toBe('north');
  expect(call?.headers.get('mcp-name')).toBe('region');
});

test('no two requests share a signal: each would leave its listeners on it for as long as the connection lasts', async () => {
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

test('an answer without end breaks off; a stream may go on for ever, an event of it may not', async () => {
  const chunks = (text: string, count: number) =>
    ReadableStream.from(Array.from({ length: count }, () => new TextEncoder().encode(text))) as unknown as BodyInit;
  const size = async (body: BodyInit, type: string) => (await withBoundedBody(new Response(body, { headers: { 'content-type': type } }), 1000).text()).length;
  expect(await size(chunks('x'.repeat(100), 10), 'application/json')).toBe(1000);
  await expect(size(chunks('x'.repeat(100), 11), 'application/json')).rejects.toThrow('more than 1000 bytes');
  for (const end of ['\n\n', '\r\n\r\n']) expect(await size(chunks(`data: ${'x'.repeat(100)}${end}`, 100), 'text/event-stream')).toBeGreaterThan(10_000);
  await expect(size(chunks(`data: ${'x'.repeat(100)}`, 100), 'text/event-stream')).rejects.toThrow('more than 1000 bytes');
});

test('a real server over Streamable HTTP is used like one over stdio [gateway.config.url]', async () => {
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
  // Killed in the middle of a call: the caller hears of it at once, not when its time is up.
  const call = app.call('all_trigger-long-running-operation', { duration: 20, steps: 20 });
  setTimeout(() => server.kill('SIGKILL'), 100);
  expect((await call).reply).toMatchObject({ code: 'UPSTREAM_DOWN' });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}
