import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { servedApp } from '../../testing/app.ts';
import { fixtureFeature, releaseWaiting, waitingCalls } from '../../testing/fixture.ts';
import { whenOver } from '../../testing/scope.ts';
import { until } from '../../testing/until.ts';

const json = { 'content-type': 'application/json' };
const auth = (token: string) => ({ ...json, authorization: `Bearer ${token}` });
const post = (url: string, body: string, headers: Record<string, string> = json) => fetch(url, { method: 'POST', headers, body });
const codeOf = async (response: Response) => ((await response.json()) as { data: { code: string } }).data.code;

interface RawRequest {
  readonly socket: Socket;
  /** The part of the response that has arrived so far. */
  text(): string;
}

/** Sends only the headers of a request. The test writes the body later. */
function raw(url: string, path: string, headers: Record<string, string | number>): RawRequest {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  whenOver(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  socket.on('error', () => {});
  const lines = Object.entries({ host, ...json, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return { socket, text: () => text };
}

const ANNOUNCED = { 'content-length': 8 * 1024 * 1024 };

test.each(['/mcp', '/mcp/all', '/api/actions/tokens.create', '/api/hooks/claude-code/stop', '/api/tasks', '/api/workstreams'])(
  'refuses a caller without a credential at %s before it reads the body, and closes the connection [harden.body.authenticate-first]',
  async (path) => {
    const { url } = await servedApp();
    for (const headers of [{}, { authorization: `Bearer cv_${'A'.repeat(43)}` }] as Record<string, string>[]) {
      const { socket, text } = raw(url, path, { ...ANNOUNCED, ...headers });
      await once(socket, 'close');
      expect(text()).toMatch(/^HTTP\/1\.1 401 /);
      expect(text().toLowerCase()).toContain('connection: close');
    }
  },
);

test('limits a call with its token in the body to 64 KiB, and allows more with the token in the header [harden.body.api-mcp-limit]', async () => {
  const { url, developer, done } = await servedApp();
  const { token, tokenId } = await developer('ana');
  await done('capabilities.grant', { action: 'tool.call.echo', token: tokenId });
  const call = (size: number) => JSON.stringify({ tool: 'echo', arguments: { text: 'x'.repeat(size) }, token });
  expect((await post(`${url}/api/mcp`, call(60_000))).status).toBe(200);
  const refused = await post(`${url}/api/mcp`, call(66_000));
  expect(refused.status).toBe(413);
  expect(await refused.json()).toMatchObject({
    feedback: { required_action: expect.stringContaining('Authorization: Bearer') },
    data: { code: 'BODY_TOO_LARGE', max_bytes: 65_536 },
  });
  // An invalid token in the header does not raise the limit.
  expect((await post(`${url}/api/mcp`, call(66_000), auth(`cv_${'A'.repeat(43)}`))).status).toBe(413);
  expect((await post(`${url}/api/mcp`, call(66_000), auth(token))).status).toBe(200);
});

test('reads at most 4 KiB of a body on the device routes [harden.body.device-limit]', async () => {
  const { url } = await servedApp();
  for (const path of ['/api/setup/device', '/api/setup/device/poll']) {
    expect((await post(`${url}${path}`, JSON.stringify('x'.repeat(4_000)))).status).toBe(400);
    expect((await post(`${url}${path}`, JSON.stringify('x'.repeat(4_096)))).status).toBe(413);
  }
});

const MIB = 1024 * 1024;
/**
 * For small bodies, all known callers share a quarter of this memory, and a token gets an eighth
 * of that quarter. Unknown callers share another quarter, and an address gets a sixteenth of it.
 */
const TIGHT = { reading_bytes: 4 * MIB, body_bytes: MIB };
const statusesOf = (requests: readonly RawRequest[]) => requests.map(({ text }) => text().split(' ', 2)[1] ?? '').toSorted();

test('answers 503 with Retry-After when the memory for bodies is used up [harden.body.global-budget] [harden.rate.error-shape]', async () => {
  const { url, developer, events } = await servedApp({ limits: TIGHT });
  const [ana, ben] = [await developer('ana'), await developer('ben')];
  const small = 'x'.repeat(60_000);
  const begin = (count: number, part: string, headers: Record<string, string> = {}) =>
    Array.from({ length: count }, () => {
      const request = raw(url, '/api/mcp', { 'content-length': part.length + 1_000, ...headers });
      request.socket.write(part);
      return request;
    });
  const clockOf = (token: string) => post(`${url}/api/mcp`, '{"tool":"clock","arguments":{}}', auth(token));

  const strangers = begin(3, small);
  await until(() => expect(statusesOf(strangers)).toEqual(['', '503', '503']));
  const refused = strangers.find(({ text }) => text() !== '');
  expect(refused?.text().toLowerCase()).toContain('retry-after: 2');
  expect(refused?.text()).toContain('"code":"SERVER_BUSY"');
  expect(refused?.text()).toContain('"status":"error"');
  // Device setup, sign-in and known callers have separate memory.
  expect((await post(`${url}/api/setup/device`, JSON.stringify({ machine_name: 'm', agents: ['codex'] }))).status).toBe(200);
  expect((await post(`${url}/api/signin`, JSON.stringify({ code: 'x' }))).status).toBe(401);

  const callers = begin(3, small, { authorization: `Bearer ${ana.token}` });
  await until(() => expect(statusesOf(callers)).toEqual(['', '', '503']));
  const large = begin(4, 'x'.repeat(900_000), { authorization: `Bearer ${ben.token}` });
  await until(() => expect(statusesOf(large).filter((status) => status === '503').length).toBeGreaterThan(1));
  // A small call succeeds although other callers have used up their shares.
  expect((await clockOf((await developer('cleo')).token)).status).toBe(200);

  // A client that disconnects releases its memory.
  for (const { socket } of [...strangers, ...callers, ...large]) socket.destroy();
  await until(async () => expect((await clockOf(ana.token)).status).toBe(200));
  expect((await events()).filter(({ payload }) => payload.code === 'SERVER_BUSY')).toEqual([]);
});

test('refuses a stalled body and releases its memory', async () => {
  const { url, developer } = await servedApp({ limits: { ...TIGHT, stalled_seconds: 1 } });
  const { token } = await developer('ana');
  const stalled = raw(url, '/api/mcp', { 'content-length': 1_000, authorization: `Bearer ${token}` });
  stalled.socket.write('{');
  await once(stalled.socket, 'close');
  expect(stalled.text()).toMatch(/^HTTP\/1\.1 408 /);
  expect(stalled.text()).toContain('BODY_STALLED');
});

test('refuses 8 MiB of empty objects and very deep nesting before parsing [harden.body.json-bounds]', async () => {
  const { url, developer } = await servedApp();
  const { token } = await developer('ana');
  for (const body of [`[${'{},'.repeat(2_700_000)}{}]`, '['.repeat(5_000_000)]) {
    const answer = await post(`${url}/mcp`, body, auth(token));
    expect(answer.status).toBe(400);
    expect(await codeOf(answer)).toBe('MALFORMED_REQUEST');
  }
  const small = await servedApp({ limits: { json_nodes: 100, json_depth: 10 } });
  const ana = await small.developer('ana');
  const call = (value: unknown) => post(`${small.url}/api/mcp`, JSON.stringify({ tool: 'clock', arguments: { value } }), auth(ana.token));
  expect((await call(Array(90).fill(1))).status).toBe(200);
  expect((await call(Array(100).fill(1))).status).toBe(400);
  expect((await call('[{,'.repeat(1_000))).status).toBe(200);
});

test('limits connections per address and per server, and closes those that send no headers in time [harden.connection.bounds]', async () => {
  const { url } = await servedApp({ limits: { connections: 5, connections_per_address: 3, header_seconds: 1 } });
  const { port } = new URL(url);
  const open = async (host: string) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: host });
    whenOver(() => socket.destroy());
    socket.on('error', () => {});
    socket.resume();
    let isClosed = false;
    socket.once('close', () => {
      isClosed = true;
    });
    await once(socket, 'connect').catch(() => {});
    return () => isClosed;
  };
  const here = await Promise.all(Array.from({ length: 4 }, () => open('127.0.0.1')));
  await until(() => expect(here.filter((isClosed) => isClosed())).toHaveLength(1));
  const others = await Promise.all(['127.0.0.2', '127.0.0.3', '127.0.0.4'].map(open));
  await until(() => expect(others.filter((isClosed) => isClosed())).toHaveLength(1));
  // None of these connections sends headers.
  await until(() => expect([...here, ...others].filter((isClosed) => !isClosed())).toHaveLength(0));
  expect((await fetch(`${url}/api/health`)).status).toBe(200);
});

test('limits the memory of the running calls of one token, so that other tokens can call', async () => {
  const { url, developer } = await servedApp({ limits: { body_bytes: 100_000, json_nodes: 500, token_body_bytes: 200_000 }, features: [fixtureFeature] });
  const [ana, ben] = [await developer('ana'), await developer('ben')];
  const call = (token: string, operation: string) =>
    post(`${url}/api/mcp`, `${JSON.stringify({ tool: 'covibe_fixture', arguments: { operation } })}${' '.repeat(90_000)}`, auth(token));
  const waiting = [call(ana.token, 'wait'), call(ana.token, 'wait')];
  await until(() => expect(waitingCalls()).toBe(2));
  expect((await call(ana.token, 'look')).status).toBe(503);
  expect((await call(ben.token, 'look')).status).toBe(200);
  releaseWaiting();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
  await until(async () => expect((await call(ana.token, 'look')).status).toBe(200));
});
