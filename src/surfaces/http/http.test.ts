import { type IncomingMessage, request as rawRequest } from 'node:http';
import { connect } from 'node:net';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { servedApp, testApp } from '../../testing/app.ts';
import { fixtureFeature, releaseWaiting, waitingCalls } from '../../testing/fixture.ts';
import { postSignIn, signInBy } from '../../testing/scenes/signin.ts';
import { until } from '../../testing/until.ts';
import { DEFAULT_BODY_BYTES } from '../../wire/limits.ts';

const json = { 'content-type': 'application/json' };
const auth = (token: string) => ({ ...json, authorization: `Bearer ${token}` });
const post = (url: string, body: BodyInit, headers: Record<string, string> = json) => fetch(url, { method: 'POST', headers, body });

async function served(options: Parameters<typeof testApp>[0] = {}) {
  const made = await servedApp(options);
  return { ...made, direct: `${made.url}/api/mcp` };
}

test('accepts {tool, arguments, token?} at POST /api/mcp and answers with the envelope of the contract [transport.direct.endpoint]', async () => {
  const { direct, developer } = await served({ features: [fixtureFeature] });
  const { token } = await developer('ana');
  const answer = await post(direct, JSON.stringify({ tool: 'covibe_fixture', arguments: { operation: 'look', what: 'x' }, token }));
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ status: 'ok', message: 'Done.', feedback: { type: 'info', required_action: null }, data: { seen: 'x' } });
  const clock = await post(direct, JSON.stringify({ tool: 'clock', token }));
  expect(await clock.json()).toMatchObject({ isError: false, structuredContent: { epoch_ms: expect.any(Number) } });
});

test('accepts the token as a Bearer header [transport.direct.bearer]', async () => {
  const { direct, developer, events } = await served();
  const ana = await developer('ana');
  const answer = await post(direct, JSON.stringify({ tool: 'clock', arguments: {} }), auth(ana.token));
  expect(answer.status).toBe(200);
  expect((await events({ kind: 'clock' })).map((event) => event.actor)).toEqual([ana.principal.actor]);
});

test('refuses a call with a missing, wrong or revoked token with 401, and journals it without the credential [auth.token.required] [auth.token.revoked]', async () => {
  const { direct, developer, done, events, logged } = await served();
  const ana = await developer('ana');
  await done('tokens.revoke', { token_id: ana.tokenId });
  const invented = `cv_${'A'.repeat(43)}`;
  for (const headers of [json, auth(invented), auth(ana.token), auth('not a token')]) {
    const answer = await post(direct, JSON.stringify({ tool: 'clock', arguments: {} }), headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('Bearer');
    expect(await answer.json()).toMatchObject({
      status: 'error',
      feedback: { required_action: expect.stringContaining('tokens create') },
      data: { code: 'UNAUTHENTICATED' },
    });
  }
  const failures = await events({ kind: 'authentication_failed' });
  expect(failures.map((event) => event.payload.reason)).toEqual(['missing', 'unknown', 'revoked', 'malformed']);
  const everything = JSON.stringify(failures) + logged.join('');
  for (const secret of [invented, ana.token]) expect(everything).not.toContain(secret);
});

const MALFORMED: [string, BodyInit, string][] = [
  ['invalid JSON [transport.direct.invalid-json]', '{"tool":', 'body'],
  ['an array [transport.direct.non-object-body]', '[1]', 'body'],
  ['a string [transport.direct.non-object-body]', '"x"', 'body'],
  ['null [transport.direct.non-object-body]', 'null', 'body'],
  ['nothing [transport.direct.invalid-json]', '', 'body'],
  ['no tool [transport.direct.missing-tool]', '{"arguments":{}}', 'tool'],
  ['a tool that is not a string [transport.direct.missing-tool]', '{"tool":5,"arguments":{}}', 'tool'],
  ['arguments that are not an object', '{"tool":"clock","arguments":[1]}', 'arguments'],
  ['an unknown field', '{"tool":"clock","arguments":{},"tokn":"x"}', 'tokn'],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 'body'],
];

test.each(MALFORMED)(
  'answers a body with %s with a structured 400 that names the field, and writes a usage event [transport.direct.malformed-usage-event]',
  async (_what, body, field) => {
    const { direct, events, developer } = await served();
    const { token } = await developer('ana');
    for (const headers of [json, auth(token)]) {
      const answer = await post(direct, body, headers);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        status: 'error',
        message: expect.any(String),
        feedback: { type: 'error', required_action: expect.any(String) },
        data: { code: 'MALFORMED_REQUEST', field },
      });
    }
    const usage = await events({ category: 'usage', kind: 'malformed_request' });
    expect(usage.map((event) => event.actor)).toEqual(['anonymous', expect.stringMatching(/^developer:/)]);
  },
);

test('writes a usage event for a call of an unknown tool and for invalid input [transport.direct.unknown-tool-usage-event] [transport.direct.schema-failure-usage-event]', async () => {
  const { direct, developer, events } = await served();
  const { token } = await developer('ana');
  for (const body of [
    { tool: 'covibe_nope', arguments: {} },
    { tool: 'clock', arguments: { x: 1 } },
  ]) {
    const answer = await post(direct, JSON.stringify(body), auth(token));
    expect(answer.status).toBe(200);
  }
  expect((await events({ category: 'usage' })).map((event) => [event.kind, event.payload.code])).toEqual([
    ['covibe_nope', 'UNKNOWN_TOOL'],
    ['clock', 'INVALID_INPUT'],
  ]);
});

test('refuses a body over 8 MiB with 413, with or without Content-Length, and accepts a body just below this limit', async () => {
  const { direct, url, developer, done } = await served();
  const { token, tokenId } = await developer('ana');
  await done('capabilities.grant', { action: 'tool.call.echo', token: tokenId });
  const echo = (size: number) => JSON.stringify({ tool: 'echo', arguments: { text: 'x'.repeat(size) } });
  const fits = await post(direct, echo(DEFAULT_BODY_BYTES - 100), auth(token));
  expect(((await fits.json()) as { structuredContent: { text: string } }).structuredContent.text).toHaveLength(DEFAULT_BODY_BYTES - 100);
  for (let i = 0; i < 20; i++) expect((await post(direct, echo(DEFAULT_BODY_BYTES + 1024), auth(token))).status).toBe(413);
  expect(await chunkedStatus(direct, token, 2 * DEFAULT_BODY_BYTES)).toBe(413);
  expect((await fetch(`${url}/api/health`)).status).toBe(200);
});

/** Sends a body without Content-Length. */
function chunkedStatus(url: string, token: string, size: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = rawRequest(url, { method: 'POST', headers: auth(token) }, (response) => {
      resolve(response.statusCode);
      request.destroy();
    });
    request.on('error', () => {});
    for (let sent = 0; sent < size; sent += 65_536) request.write(Buffer.alloc(65_536, 0x20));
    request.end();
  });
}

test('logs no error if a client disconnects in the middle of sending its body', async () => {
  const { direct, logged, url } = await served();
  await new Promise<void>((resolve) => {
    const request = rawRequest(direct, { method: 'POST', headers: { ...json, 'content-length': 1_000 } });
    request.on('error', () => resolve());
    request.write('{"tool":', () => request.destroy());
  });
  await until(async () => expect((await fetch(`${url}/api/health`)).status).toBe(200));
  expect(logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

test('refuses very deep JSON and a name of a megabyte with a structured error, and keeps running', async () => {
  const { direct, url, developer, events } = await served();
  const { token } = await developer('ana');
  const nested = (levels: number) => `{"tool":"clock","arguments":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
  expect(await (await post(direct, nested(100), auth(token))).json()).toMatchObject({
    isError: true,
    structuredContent: { code: 'INVALID_INPUT', field: expect.stringMatching(/^a/) },
  });
  expect(await (await post(direct, nested(200_000), auth(token))).json()).toMatchObject({ data: { code: 'MALFORMED_REQUEST', field: 'body' } });
  const long = await post(direct, JSON.stringify({ tool: 'n'.repeat(900_000), arguments: {} }), auth(token));
  expect((await long.text()).length).toBeLessThan(5_000);
  for (const event of await events()) expect(JSON.stringify(event).length).toBeLessThan(10_000);
  expect((await fetch(`${url}/api/health`)).status).toBe(200);
});

test('refuses a foreign Host on every path, and journals it [transport.http.host-check]', async () => {
  const { url, developer, events } = await served();
  const { token } = await developer('ana');
  for (const path of ['/api/mcp', '/mcp', '/', '/api/health', '/api/events', '/metrics']) {
    expect(await statusWith(`${url}${path}`, { ...auth(token), host: 'evil.example' })).toBe(403);
    expect(await statusWith(`${url}${path}`, { ...auth(token), host: '127.0.0.1.evil.example:80' })).toBe(403);
  }
  expect((await events({ kind: 'request_refused' })).length).toBeGreaterThan(0);
  expect(await statusWith(`${url}/api/health`, { host: 'localhost' })).toBe(200);
});

test('refuses a foreign Origin, even if it is another port of this host, and accepts its own Origin or none [transport.http.origin-check]', async () => {
  const { url, developer } = await served();
  const { token } = await developer('ana');
  const host = new URL(url).host;
  for (const origin of ['https://evil.example', 'http://127.0.0.1:1', `http://${host}.evil.example`, 'null', 'file://']) {
    expect(await statusWith(`${url}/api/health`, { ...auth(token), origin })).toBe(403);
  }
  expect(await statusWith(`${url}/api/health`, { origin: `http://${host}` })).toBe(200);
});

const statusWith = async (url: string, headers: Record<string, string>) => (await answerWith(url, headers)).statusCode;

function answerWith(url: string, headers: Record<string, string>, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    rawRequest(url, { headers, method: body === undefined ? 'GET' : 'POST' }, (response) => {
      response.resume();
      resolve(response);
    })
      .on('error', reject)
      .end(body);
  });
}

test('serves no data without a credential on any path [transport.http.never-open]', async () => {
  const { url } = await served();
  for (const path of ['/api/mcp', '/mcp', '/mcp/all', '/api/actions/tokens.list', '/api/actions/events.list', '/api/actions/identity.me']) {
    const answer = await post(`${url}${path}`, JSON.stringify({ tool: 'clock', arguments: {} }));
    expect([path, answer.status]).toEqual([path, 401]);
  }
  expect((await post(`${url}/api/nothing`, '{}')).status).toBe(404);
});

test('reports at /api/health whether the database schema is complete, without any data from it [transport.http.health]', async () => {
  const { app, developer, url } = await served();
  await developer('ana-the-visible');
  const healthy = await fetch(`${url}/api/health`);
  expect(healthy.status).toBe(200);
  const text = await healthy.text();
  expect(JSON.parse(text)).toMatchObject({ status: 'ok', checks: { database: 'ok', schema: 'ok' } });
  expect(text).not.toContain('ana');
  await app.store.engine.transaction('schema', (db) => sql`alter table grants rename to grants_gone`.execute(db));
  const { createHealth } = await import('./health.ts');
  expect(await createHealth(app, 'x')()).toMatchObject({ status: 'failing', checks: { schema: 'damaged' } });
  await app.store.engine.transaction('schema', (db) => sql`alter table grants_gone rename to grants`.execute(db));
});

test('serves calls by tool and outcome at /metrics, in the Prometheus format [transport.http.metrics]', async () => {
  const { url, direct, developer } = await served();
  const { token } = await developer('ana');
  await post(direct, JSON.stringify({ tool: 'clock' }), auth(token));
  await post(direct, JSON.stringify({ tool: 'echo', arguments: { text: 'x' } }), auth(token));
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toContain('covenant_calls_total{tool="clock",surface="api",outcome="ok"} 1');
  expect(text).toContain('covenant_calls_total{tool="unknown",surface="api",outcome="denied"} 1');
  expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
});

test('exchanges the code of a sign-in link once for an HttpOnly, SameSite=Strict cookie and a proof, and GET and HEAD do not use up the code [auth.dashboard.cookie] [auth.dashboard.one-time-link] [harden.signin.api]', async () => {
  const { url, developer, done, events } = await served();
  const ana = await developer('ana');
  const link = url + String((await done('signin.link', {})).path);
  for (const method of ['GET', 'HEAD']) expect((await fetch(link, { method, redirect: 'manual' })).headers.get('set-cookie')).toBeNull();
  const { setCookie, headers, body, action } = await signInBy(link);
  expect(setCookie).toMatch(/; HttpOnly; SameSite=Strict;/);
  expect(body).toEqual({
    kind: 'signed_in',
    proof: expect.stringMatching(/^[\w-]{43}$/),
    header: 'x-covenant-proof',
    developer: { id: ana.principal.developerId, name: 'ana', role: 'admin' },
    workspace: 'default',
  });
  const second = await postSignIn(link);
  expect(second.status).toBe(401);
  expect(second.headers.get('set-cookie')).toBeNull();
  expect(await second.json()).toMatchObject({ data: { code: 'SIGNIN_LINK_INVALID' }, feedback: { required_action: expect.stringContaining('covenant open') } });
  expect((await events({ kind: 'authentication_failed' })).map(({ payload }) => payload)).toEqual([expect.objectContaining({ reason: 'link' })]);
  expect((await action('identity.me')).body).toMatchObject({ developer: 'ana', operator: true });
  expect((await post(`${url}/api/mcp`, JSON.stringify({ tool: 'clock' }), { ...json, ...headers })).status).toBe(401);
});

test('accepts at POST /api/signin only a code and a flag, from this origin, in at most 4 KiB', async () => {
  const { url } = await served();
  const signIn = async (body: string, headers: Record<string, string> = json) => {
    const answer = await post(`${url}/api/signin`, body, headers);
    return [answer.status, ((await answer.json()) as { data: { code: string } }).data.code];
  };
  expect(await signIn('{}')).toEqual([400, 'INVALID_INPUT']);
  expect(await signIn('{"code":"x","colour":"red"}')).toEqual([400, 'INVALID_INPUT']);
  expect(await signIn('{"code":')).toEqual([400, 'MALFORMED_REQUEST']);
  expect(await signIn(JSON.stringify({ code: 'x'.repeat(5_000) }))).toEqual([413, 'BODY_TOO_LARGE']);
  expect(await signIn('{"code":"x"}', { ...json, origin: 'http://127.0.0.1:1' })).toEqual([403, 'FOREIGN_ORIGIN']);
  expect(await signIn('{"code":"x"}')).toEqual([401, 'SIGNIN_LINK_INVALID']);
});

test('names the account of a link for another account, uses the link only after consent, and then ends the previous session [harden.signin.names-account]', async () => {
  const { url, developer, done, signIn } = await served();
  await developer('mira');
  await developer('stranger');
  const mira = await signIn(url, 'mira');
  const link = url + String((await done('signin.link', { developer: 'stranger' })).path);
  const asked = await postSignIn(link, mira.headers);
  expect(asked.status).toBe(409);
  expect(asked.headers.get('set-cookie')).toBeNull();
  expect(await asked.json()).toMatchObject({
    message: expect.stringMatching(/as "stranger" .* as "mira"/),
    data: {
      code: 'SIGNED_IN_AS_ANOTHER',
      link_for: { developer: 'stranger', workspace: 'default' },
      signed_in_as: { developer: 'mira', workspace: 'default' },
    },
  });
  expect((await mira.action('identity.me')).status).toBe(200);
  const agreed = await postSignIn(link, mira.headers, { replace: true });
  expect(await agreed.json()).toMatchObject({ kind: 'signed_in', developer: { name: 'stranger', role: 'member' } });
  expect((await mira.action('identity.me')).status).toBe(401);
});

test('renews the sign-in with a link for the same account, and ends the previous session', async () => {
  const { url, developer, done, signIn } = await served();
  await developer('mira');
  const before = await signIn(url);
  const answer = await postSignIn(url + String((await done('signin.link', {})).path), before.headers);
  expect(answer.status).toBe(200);
  expect((await before.action('identity.me')).status).toBe(401);
});

test('keeps an idle connection open longer than proxies keep theirs', async () => {
  const { url } = await served();
  const { headers } = await fetch(`${url}/api/health`);
  expect(Number(/timeout=(\d+)/.exec(headers.get('keep-alive') ?? '')?.[1])).toBeGreaterThan(120);
});

test('marks the cookie as Secure only if the dashboard is opened over https', async () => {
  const { url, developer, done } = await served({ proxy: { allowed_hosts: ['covenant.example'], allowed_origins: ['https://covenant.example'] } });
  await developer('ana');
  const cookieFor = async (host: string) => {
    const { path } = await done('signin.link', {});
    const body = JSON.stringify({ code: String(path).split('/').at(-1) });
    return (await answerWith(`${url}/api/signin`, { host, 'content-type': 'application/json' }, body)).headers['set-cookie']?.[0];
  };
  expect(await cookieFor('covenant.example')).toMatch(/; HttpOnly; SameSite=Strict; Secure; Max-Age/);
  expect(await cookieFor('localhost')).not.toContain('Secure');
});

test('only the operator can name another workspace', async () => {
  const { url, operator, developer, done } = await served();
  const ana = await developer('ana');
  const create = (token: string, workspace: string) =>
    post(`${url}/api/actions/tokens.create`, JSON.stringify({ developer: 'zoe' }), { ...auth(token), 'x-covenant-workspace': workspace });
  expect((await create(operator.token, 'beta')).status).toBe(200);
  const list = await post(`${url}/api/actions/developers.list`, '{}', { ...auth(operator.token), 'x-covenant-workspace': 'beta' });
  expect(await list.json()).toMatchObject({ items: [{ name: 'zoe', role: 'admin' }] });
  expect(((await done('developers.list', {})) as { items: { name: string }[] }).items.map((item) => item.name)).toEqual(['ana']);
  expect((await post(`${url}/api/actions/developers.list`, '{}', { ...auth(operator.token), 'x-covenant-workspace': 'gamma' })).status).toBe(404);
  expect((await create(ana.token, 'beta')).status).toBe(403);
  expect((await create(operator.token, 'No Such Name!')).status).toBe(400);
});

test('binds 127.0.0.1 by default [transport.http.loopback]', async () => {
  const { url } = await served();
  const { hostname, port } = new URL(url);
  expect(hostname).toBe('127.0.0.1');
  const { networkInterfaces } = await import('node:os');
  const others = Object.values(networkInterfaces())
    .flat()
    .filter((address) => address && !address.internal && address.family === 'IPv4');
  for (const other of others) {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: other?.address as string, port: Number(port) }, () => resolve(true));
      socket.on('error', () => resolve(false));
    });
    expect(reached).toBe(false);
  }
});

test('answers running calls while it stops, also over MCP, and accepts no new ones', async () => {
  const { developer, serve } = await testApp({ features: [fixtureFeature] });
  const server = await serve();
  const { token } = await developer('ana');
  const call = { tool: 'covibe_fixture', arguments: { operation: 'wait' } };
  const direct = post(`${server.url}/api/mcp`, JSON.stringify(call), auth(token));
  const legacy = post(
    `${server.url}/mcp`,
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: call.tool, arguments: call.arguments } }),
    { ...auth(token), accept: 'application/json, text/event-stream' },
  );
  await until(() => expect(waitingCalls()).toBe(2));
  const closing = server.close();
  await expect(post(`${server.url}/api/mcp`, JSON.stringify(call), { ...auth(token), connection: 'close' })).rejects.toThrow();
  releaseWaiting();
  expect(await (await direct).json()).toMatchObject({ status: 'ok', data: { seen: 'released' } });
  expect(await (await legacy).text()).toContain('released');
  await closing;
});

test.each(['/mcp', '/api/actions/tokens.list'])('%s refuses a body that is not JSON, not UTF-8 or too large, as /api/mcp does', async (path) => {
  const { operator, url } = await served();
  expect((await post(`${url}${path}`, '{', auth(operator.token))).status).toBe(400);
  expect((await post(`${url}${path}`, Buffer.from([0x22, 0xff, 0x22]), auth(operator.token))).status).toBe(400);
  expect((await post(`${url}${path}`, JSON.stringify('x'.repeat(DEFAULT_BODY_BYTES)), auth(operator.token))).status).toBe(413);
});

test('shares one store between the API, MCP and the dashboard [storage.database.shared]', async () => {
  const { url, direct, developer, signIn } = await served();
  const { token } = await developer('ana');
  await post(direct, JSON.stringify({ tool: 'clock' }), auth(token));
  const page = await (await signIn(url)).action('events.list', { latest: 50 });
  expect(JSON.stringify(page.body)).toContain('"kind":"clock"');
});
