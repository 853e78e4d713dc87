import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { servedApp, type TestCaller } from '../../testing/app.ts';
import { connected } from '../../testing/mcp-client.ts';
import { fakeUpstreams } from '../../testing/stand-ins/fake-upstreams.ts';
import { until } from '../../testing/until.ts';
import { IDLE_MS, LINGER_MS, MAX_OPEN_PER_TOKEN } from './sessions.ts';
import { MAX_SUBSCRIPTIONS } from './subscriptions.ts';

const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

async function served() {
  const fake = fakeUpstreams();
  const { url, ...made } = await servedApp({ upstreams: fake.create });
  const ana = await made.developer('ana');
  const send = (caller: TestCaller, session: string | null, method: string, params: object = {}, path = '/mcp', rest: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...headersOf(caller, session), 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      ...rest,
    });
  const begin = async (caller: TestCaller, path = '/mcp'): Promise<string> => {
    const response = await send(caller, null, 'initialize', INITIALIZE, path);
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  };
  const status = async (...args: Parameters<typeof send>) => {
    const response = await send(...args);
    await response.text();
    return response.status;
  };
  // The responses are kept in an array, because a response without a reference is garbage-collected and its stream is then closed.
  const streams: Response[] = [];
  const gone = new AbortController();
  onTestFinished(() => {
    gone.abort();
    streams.length = 0;
  });
  const listen = async (caller: TestCaller, session: string) => {
    const stream = await fetch(`${url}/mcp`, { headers: { ...headersOf(caller, session), accept: 'text/event-stream' }, signal: gone.signal });
    streams.push(stream);
    expect(stream.status).toBe(200);
  };
  return { ...made, fake, url, ana, send, begin, status, listen, stopListening: () => gone.abort() };
}

const headersOf = ({ token }: TestCaller, session: string | null): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(session === null ? {} : { 'mcp-session-id': session }),
});
const sessionOf = (client: Client) => (client.transport as StreamableHTTPClientTransport).sessionId as string;

test('binds a session to its token, path and server, and reports it as unknown to other callers', async () => {
  const { ana, begin, status, developer, events } = await served();
  const bob = await developer('bob');
  const other = await developer('ana', 'codex');
  const session = await begin(ana);
  expect(session).toMatch(/^[\w-]{43}$/);
  expect(await begin(ana)).not.toBe(session);
  expect(await status(ana, session, 'tools/list')).toBe(200);
  expect(await status(bob, session, 'tools/list')).toBe(404);
  expect(await status(other, session, 'tools/list')).toBe(404);
  expect(await status(ana, session, 'tools/list', {}, '/mcp/all')).toBe(404);
  expect(await status(ana, 'from-before-the-restart', 'tools/list')).toBe(404);
  expect((await events({ kind: 'malformed_request' })).map(({ payload }) => payload.code)).toEqual(Array(4).fill('SESSION_NOT_FOUND'));
  // The attempts of other callers did not affect the session.
  expect(await status(ana, session, 'ping')).toBe(200);
});

test('ends a session and its watches on DELETE', async () => {
  const { ana, url, fake, done, status } = await served();
  fake.resources.set('test://alpha/a', async () => ({ contents: [] }));
  await done('capabilities.grant', { action: 'resource.read.alpha', developer: 'ana' });
  const client = await connected(`${url}/mcp`, ana.token, 'legacy');
  await client.subscribeResource({ uri: 'test://alpha/a' });
  expect(fake.watched.size).toBe(1);
  const session = sessionOf(client);
  await (client.transport as StreamableHTTPClientTransport).terminateSession();
  expect(fake.watched.size).toBe(0);
  expect(await status(ana, session, 'tools/list')).toBe(404);
});

test('answers a single request without a session, but opens no stream', async () => {
  const { ana, url, send, status } = await served();
  const response = await send(ana, null, 'tools/list');
  expect(response.headers.has('mcp-session-id')).toBe(false);
  expect(await response.text()).toContain('"clock"');
  expect((await fetch(`${url}/mcp`, { headers: { ...headersOf(ana, null), accept: 'text/event-stream' } })).status).toBe(405);
  expect(await status(ana, '', 'tools/list')).toBe(404);
});

test('limits the sessions of a token, and ends the longest idle session without an open stream to make room for a new one', async () => {
  const { ana, begin, clock, status, listen, developer } = await served();
  const bob = await developer('bob');
  const bobs = await begin(bob);
  const [first = '', second = '', ...others] = await Promise.all(Array.from({ length: MAX_OPEN_PER_TOKEN }, () => begin(ana)));
  await listen(ana, first);
  clock.advance(1_000);
  for (const session of others) await status(ana, session, 'ping');
  const added = await begin(ana);
  expect(await status(ana, first, 'ping')).toBe(200);
  expect(await status(ana, second, 'ping')).toBe(404);
  expect(await status(ana, added, 'ping')).toBe(200);
  expect(await status(bob, bobs, 'ping')).toBe(200);
});

test('serves the next client without a session and without notifications if all sessions of the token are in use', async () => {
  const { ana, begin, send, listen } = await served();
  for (let count = 0; count < MAX_OPEN_PER_TOKEN; count++) await listen(ana, await begin(ana));
  const response = await send(ana, null, 'initialize', INITIALIZE);
  expect(response.headers.has('mcp-session-id')).toBe(false);
  const answer = JSON.parse(/^data: (.*)$/m.exec(await response.text())?.[1] ?? '');
  expect(answer.result.capabilities).toEqual({ tools: {}, prompts: {}, resources: {}, completions: {} });
});

test('limits the open streams of a token in the newer revision', async () => {
  const { ana, url } = await served();
  const client = await connected(`${url}/mcp`, ana.token);
  const open = () => client.listen({ toolsListChanged: true });
  const [first] = await Promise.all(Array.from({ length: MAX_OPEN_PER_TOKEN }, open));
  await expect(open()).rejects.toThrow(/limit/);
  await first?.close();
  await until(open);
});

test('ends a session after half an hour without use, but not while it has an open stream', async () => {
  const { ana, begin, clock, status, listen, stopListening } = await served();
  const [idle, listening] = [await begin(ana), await begin(ana)];
  await listen(ana, listening);
  clock.advance(IDLE_MS);
  expect(await status(ana, idle, 'ping')).toBe(200);
  clock.advance(IDLE_MS + 1);
  await until(async () => expect(await status(ana, listening, 'ping')).toBe(200));
  expect(await status(ana, idle, 'ping')).toBe(404);
  stopListening();
  await until(async () => {
    clock.advance(IDLE_MS + 1);
    expect(await status(ana, listening, 'ping')).toBe(404);
  });
});

test.each(['legacy', 'modern'] as const)('ends the stream of a %s client when its token is revoked', async (era) => {
  const { ana, url, begin, done } = await served();
  const session = era === 'legacy' ? await begin(ana) : null;
  const modern = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta: modern, notifications: { toolsListChanged: true } } };
  const revision = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen', 'content-type': 'application/json' };
  const stream = await fetch(`${url}/mcp`, {
    headers: { ...headersOf(ana, session), accept: 'application/json, text/event-stream', ...(session ? {} : revision) },
    ...(session ? {} : { method: 'POST', body: JSON.stringify(listen) }),
  });
  expect(stream.status).toBe(200);
  await done('tokens.revoke', { token_id: ana.tokenId });
  // The server closes the stream.
  await stream.text();
  expect((await fetch(`${url}/mcp`, { headers: headersOf(ana, session) })).status).toBe(401);
});

test('keeps the answer for a client that reconnects, and cancels the call of a client that does not reconnect', async () => {
  const { ana, url, fake, begin, send, status, done, clock } = await served();
  const calls: { answer: (value: string) => void; signal: AbortSignal }[] = [];
  const work = (_args: object, { signal }: { signal: AbortSignal }) =>
    new Promise<{ content: object[] }>((resolve, reject) => {
      calls.push({ answer: (value) => resolve({ content: [{ type: 'text', text: value }] }), signal });
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  fake.tools.set('alpha_slow', { work });
  await done('capabilities.grant', { action: 'tool.call.alpha_slow', developer: 'ana' });
  const session = await begin(ana);
  /** Breaks the connection of a call after its first message, and returns the id of that message. */
  const broken = async () => {
    const before = calls.length;
    const gone = new AbortController();
    const response = await send(ana, session, 'tools/call', { name: 'alpha_slow', arguments: {} }, '/mcp', {
      signal: gone.signal,
      headers: {
        ...headersOf(ana, session),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
    });
    const first = await response.body?.getReader().read();
    await until(() => expect(calls.length).toBe(before + 1));
    gone.abort();
    return /^id: (.*)$/m.exec(new TextDecoder().decode(first?.value))?.[1] ?? '';
  };
  const last = await broken();
  clock.advance(LINGER_MS);
  calls[0]?.answer('at last');
  const resume = { ...headersOf(ana, session), accept: 'text/event-stream', 'last-event-id': last };
  const resumed = await fetch(`${url}/mcp`, { headers: resume });
  expect(await resumed.text()).toContain('at last');

  await broken();
  expect(calls[1]?.signal.aborted).toBe(false);
  await until(() => {
    clock.advance(LINGER_MS + 1);
    expect(calls[1]?.signal.aborted).toBe(true);
  });
  // A stream that was resumed only for one call does not keep the session alive.
  await until(async () => {
    clock.advance(IDLE_MS + 1);
    expect(await status(ana, session, 'ping')).toBe(404);
  });
});

test('closes the connection of a call when its client cancels the call', async () => {
  const { ana, fake, begin, send, done, events } = await served();
  fake.tools.set('alpha_slow', { work: (_args, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) });
  await done('capabilities.grant', { action: 'tool.call.alpha_slow', developer: 'ana' });
  const session = await begin(ana);
  const call = await send(ana, session, 'tools/call', { name: 'alpha_slow', arguments: {} });
  await until(async () => expect((await events({ kind: 'CapabilityCheck' })).map(({ subject }) => subject)).toContain('tool:alpha_slow'));
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  expect((await send(ana, session, '', {}, '/mcp', { body })).status).toBe(202);
  expect(await call.text()).toContain('"error":{');
});

test('limits the watched resources of a client that subscribes to many at the same time', async () => {
  const { ana, url, fake, done } = await served();
  const uris = Array.from({ length: MAX_SUBSCRIPTIONS + 10 }, (_, number) => `test://alpha/${number}`);
  for (const uri of uris) fake.resources.set(uri, async () => ({ contents: [] }));
  await done('capabilities.grant', { action: 'resource.read.alpha', developer: 'ana' });
  const client = await connected(`${url}/mcp`, ana.token, 'legacy');
  const answers = await Promise.allSettled(uris.map((uri) => client.subscribeResource({ uri })));
  expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(10);
  expect(fake.watched.size).toBe(MAX_SUBSCRIPTIONS);
});
