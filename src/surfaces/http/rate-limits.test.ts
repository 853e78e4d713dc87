import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { servedApp, type TestAppOptions } from '../../testing/app.ts';
import { whenOver } from '../../testing/scope.ts';
import { until } from '../../testing/until.ts';

const auth = (token: string) => ({ 'content-type': 'application/json', authorization: `Bearer ${token}` });
const clockCall = JSON.stringify({ tool: 'clock', arguments: {} });

async function served(options: TestAppOptions = {}) {
  const made = await servedApp(options);
  return { ...made, call: (token: string) => fetch(`${made.url}/api/mcp`, { method: 'POST', headers: auth(token), body: clockCall }) };
}

const TIGHT = { token_requests_per_second: 1, token_burst: 3, address_requests_per_second: 1, address_burst: 4 };

test('answers a token above its rate with a structured 429 and Retry-After, until that time is over [harden.rate.limited] [harden.rate.error-shape]', async () => {
  const { call, developer, clock } = await served({ limits: TIGHT });
  const [ana, ben] = [await developer('ana'), await developer('ben')];
  for (let i = 0; i < 3; i++) expect((await call(ana.token)).status).toBe(200);
  const refused = await call(ana.token);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await refused.json()).toMatchObject({
    status: 'error',
    message: expect.stringContaining('too many requests'),
    feedback: { type: 'error', required_action: expect.stringContaining('Wait 1 second') },
    data: { code: 'RATE_LIMITED', by: 'token', retry_after: 1 },
  });
  // Other tokens are not affected.
  expect((await call(ben.token)).status).toBe(200);
  clock.advance(1_000);
  expect((await call(ana.token)).status).toBe(200);
  expect((await call(ana.token)).status).toBe(429);
  // If the clock is set back, the bucket is not refilled at once, and later it is refilled as usual.
  clock.advance(-3_600_000);
  expect((await call(ana.token)).status).toBe(429);
  clock.advance(1_000);
  expect((await call(ana.token)).status).toBe(200);
});

test('limits callers without a credential by address on every route, and known callers only by token [harden.rate.limited]', async () => {
  const { url, call, developer } = await served({ limits: { ...TIGHT, token_burst: 100 } });
  const { token } = await developer('ana');
  const paths = ['/', '/signin/x', '/api/health', '/metrics', '/mcp', '/api/mcp', '/api/setup/device', '/api/state', '/api/nothing', '/assets/x.js'];
  for (let i = 0; i < 4; i++) await fetch(`${url}/api/health`);
  const statuses = await Promise.all(paths.map(async (path) => [path, (await fetch(`${url}${path}`)).status]));
  expect(statuses).toEqual(paths.map((path) => [path, 429]));
  expect((await fetch(`${url}/mcp`, { method: 'POST', headers: auth(`cv_${'A'.repeat(43)}`), body: clockCall })).status).toBe(429);
  for (let i = 0; i < 20; i++) expect((await call(token)).status).toBe(200);
});

test('counts each call of a JSON-RPC batch as a request', async () => {
  const { url, developer } = await served({ limits: { ...TIGHT, token_burst: 10 } });
  const { token } = await developer('ana');
  const batch = Array.from({ length: 11 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list', params: {} }));
  const headers = { ...auth(token), accept: 'application/json, text/event-stream' };
  expect((await fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(batch) })).status).toBe(429);
});

test('writes no usage event for rate-limited calls, but one event per token and minute with their count [team.log.usage-event-per-call]', async () => {
  const { url, call, developer, events, clock } = await served({ limits: TIGHT });
  const ana = await developer('ana');
  for (let i = 0; i < 53; i++) await call(ana.token);
  await Promise.all(Array.from({ length: 30 }, () => fetch(`${url}/api/health`)));
  expect(await events({ kind: 'clock' })).toHaveLength(3);
  clock.advance(61_000);
  await until(async () => expect(await events({ kind: 'requests_refused' })).toHaveLength(2));
  const [known, unknown] = (await events({ kind: 'requests_refused' })).toSorted((a, b) => b.actor.length - a.actor.length);
  expect(known).toMatchObject({ category: 'usage', actor: ana.principal.actor, payload: { token_id: ana.tokenId, count: 50, codes: { RATE_LIMITED: 50 } } });
  expect(unknown).toMatchObject({ actor: 'anonymous', payload: { source: '127.0.0.1', count: 26 } });
});

test('limits sockets on /api/events per token and per server, until one is closed [harden.sockets.bounds]', async () => {
  const { url, developer } = await served({ limits: { sockets_per_token: 2, sockets: 3 } });
  const [ana, ben] = [await developer('ana'), await developer('ben')];
  const open = async (token: string) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/events`, { headers: auth(token) });
    whenOver(() => socket.terminate());
    const refused = new Promise<number>((resolve) =>
      socket.once('unexpected-response', (_, { statusCode, headers }) => resolve(headers['retry-after'] ? (statusCode ?? 0) : 0)),
    );
    socket.on('error', () => {});
    return { socket, status: await Promise.race([once(socket, 'open').then(() => 101), refused]) };
  };
  const first = await open(ana.token);
  expect([first.status, (await open(ana.token)).status, (await open(ana.token)).status]).toEqual([101, 101, 429]);
  expect([(await open(ben.token)).status, (await open(ben.token)).status]).toEqual([101, 429]);
  first.socket.terminate();
  await until(async () => expect((await open(ben.token)).status).toBe(101));
});

/** A request that a proxy on this machine forwards. */
function statusOf(url: string, path: string, headers: Record<string, string>, method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on('error', reject);
    sent.end(method === 'POST' ? '{}' : undefined);
  });
}

test('counts by the nearest untrusted address in X-Forwarded-For if the peer is a trusted proxy', async () => {
  const proxied = await served({ limits: TIGHT, proxy: { trusted_proxies: ['127.0.0.0/8', '10.1.0.0/16'] } });
  const from = (address: string, { url } = proxied) => statusOf(url, '/api/health', { 'x-forwarded-for': address });
  for (let i = 0; i < 4; i++) expect(await from('203.0.113.7')).toBe(200);
  expect(await from('203.0.113.7')).toBe(429);
  // Addresses that the caller adds at the beginning of the header are ignored.
  expect(await from('198.51.100.1, 203.0.113.7, 10.1.2.3')).toBe(429);
  expect(await from('203.0.113.8')).toBe(200);
  // All addresses of an IPv6 network count as one caller.
  for (let i = 0; i < 4; i++) expect(await from(`2001:db8:0:1::${i}`)).toBe(200);
  expect([await from('2001:db8:0:1:ffff::1'), await from('2001:db8:0:2::1')]).toEqual([429, 200]);

  const bare = await served({ limits: TIGHT });
  for (let i = 0; i < 4; i++) expect(await from(`203.0.113.${i}`, bare)).toBe(200);
  expect(await from('203.0.113.9', bare)).toBe(429);
});

test('serves /metrics to programs on this machine, and through a proxy only with the token of the operator', async () => {
  for (const trusted_proxies of [[], ['127.0.0.1']]) {
    const { url, operator, developer } = await served({ proxy: { trusted_proxies, allowed_hosts: ['team.example'] } });
    const ana = await developer('ana');
    const ask = (headers: Record<string, string>) => statusOf(url, '/metrics', headers);
    expect(await ask({})).toBe(200);
    for (const added of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via']) expect([added, await ask({ [added]: '127.0.0.1' })]).toEqual([added, 401]);
    expect(await ask({ host: 'team.example' })).toBe(401);
    expect(await ask({ host: 'team.example', authorization: `Bearer ${ana.token}` })).toBe(401);
    expect(await ask({ host: 'team.example', authorization: `Bearer ${operator.token}` })).toBe(200);
  }
});

test('other addresses can set up a device while one address floods the list, even when the list is full', async () => {
  const { url } = await served({ proxy: { trusted_proxies: ['127.0.0.1'] }, limits: { address_burst: 10_000 } });
  const ask = (address: string) =>
    fetch(`${url}/api/setup/device`, {
      method: 'POST',
      headers: { 'x-forwarded-for': address },
      body: JSON.stringify({ machine_name: 'm', agents: ['codex'] }),
    });
  for (let i = 0; i < 30; i++) expect((await ask('203.0.113.7')).status).toBe(200);
  expect((await ask('203.0.113.7')).status).toBe(429);
  expect((await ask('203.0.113.8')).status).toBe(200);
  // All addresses of an IPv6 network count as one caller.
  const network = await Promise.all(Array.from({ length: 40 }, async (_, i) => (await ask(`2001:db8:0:1::${i}`)).status));
  expect(network.filter((status) => status === 200)).toHaveLength(30);
  // At most 1,000 requests of all addresses together can be pending.
  for (let source = 0; source < 950; source++) await ask(`10.1.${Math.floor(source / 200)}.${source % 200}`);
  expect((await ask('198.51.100.200')).status).toBe(200);
});

test('counts requests with a foreign Host or Origin by their address, so that they cannot flood the server', async () => {
  const { url } = await served({ limits: TIGHT });
  const ask = (headers: Record<string, string>) => statusOf(url, '/api/health', headers);
  expect(await Promise.all([1, 2, 3, 4].map(() => ask({ host: 'evil.example' })))).toEqual([403, 403, 403, 403]);
  expect([await ask({ host: 'evil.example' }), await ask({ origin: 'https://evil.example' })]).toEqual([429, 429]);
});

test('counts requests by the decoded path, even if the path is percent-encoded', async () => {
  const { url, developer, done } = await served({ limits: { ...TIGHT, token_burst: 100 } });
  const { token, tokenId } = await developer('ana');
  await done('capabilities.grant', { action: 'tool.call.echo', token: tokenId });
  const body = JSON.stringify({ tool: 'echo', arguments: { text: 'x'.repeat(100_000) } });
  for (let i = 0; i < 6; i++) expect((await fetch(`${url}/%61pi/mcp`, { method: 'POST', headers: auth(token), body })).status).toBe(200);
});
