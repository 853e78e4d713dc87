import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { servedApp, type TestApp, testApp } from '../../testing/app.ts';
import { ERAS, type Era } from '../../testing/mcp-client.ts';
import { bridge, closedOrigin, optionsFor, run, standIn, type ToolResult, textOf } from '../../testing/programs/bridge.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { DEFAULT_BODY_BYTES } from '../../wire/limits.ts';
import { createMetrics } from '../http/metrics.ts';
import { serve } from '../http/server.ts';
import { readSettings } from './settings.ts';

describe.each(ERAS)('the stdio bridge with a %s client', (era) => {
  it('[transport.bridge.injects-token] adds COVIBE_MCP_TOKEN to a call without a token', async () => {
    const { url, ...t } = await servedApp();
    const alice = await t.developer('alice');
    const { client } = await bridge(era, { COVIBE_BASE_URL: url, COVIBE_MCP_TOKEN: alice.token });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('clock');
    const result = await client.callTool({ name: 'clock', arguments: {} });
    expect(result).toMatchObject({ isError: false, structuredContent: { epoch_ms: t.clock.now() } });
    expect(await tokenOfLastCall(t)).toBe(alice.tokenId);
  });

  it("[transport.bridge.keeps-given-token] uses the agent's own token and strips it from the arguments", async () => {
    const { url, ...t } = await servedApp();
    const [alice, bob] = [await t.developer('alice'), await t.developer('bob')];
    const { client } = await bridge(era, { COVIBE_BASE_URL: url, COVIBE_MCP_TOKEN: alice.token });
    // The tool accepts no arguments, so it would refuse a token that is still among them.
    expect(await client.callTool({ name: 'clock', arguments: { token: bob.token } })).toMatchObject({ isError: false });
    expect(await tokenOfLastCall(t)).toBe(bob.tokenId);
    const wrong = await client.callTool({ name: 'clock', arguments: { token: 'cv_wrong' } });
    expect(wrong).toMatchObject({ isError: true, structuredContent: { data: { code: 'UNAUTHENTICATED' } } });
    const unsendable = await client.callTool({ name: 'clock', arguments: { token: 'cv_…\n' } });
    expect(unsendable).toMatchObject({ isError: true, structuredContent: { data: { code: 'MALFORMED_TOKEN' } } });
  });

  it("[transport.bridge.keeps-structured-errors] passes the server's errors on unchanged", async () => {
    const { url, ...t } = await servedApp();
    const { token } = await t.developer('alice');
    const { client, notes } = await bridge(era, { COVIBE_BASE_URL: url, COVIBE_MCP_TOKEN: token });
    const direct = await directly(era, url, token);
    const calls = [
      { name: 'echo', arguments: { text: 'no grant' }, code: 'CAPABILITY_DENIED' },
      { name: 'clock', arguments: { surprise: 1 }, code: 'INVALID_INPUT' },
      { name: 'clock', arguments: { token: 5 }, code: 'INVALID_INPUT' },
      { name: 'nicht da ✗', arguments: {}, code: 'CAPABILITY_DENIED' },
    ];
    for (const { code, ...call } of calls) {
      const carried = resultOf(await client.callTool(call));
      expect(carried).toEqual(resultOf(await direct.callTool(call)));
      expect(JSON.stringify(carried)).toContain(code);
    }

    const refused = await fetch(`${url}/mcp`, { method: 'POST', body: '{}', headers: { authorization: 'Bearer cv_wrong' } });
    const unauthenticated = resultOf(await client.callTool({ name: 'clock', arguments: { token: 'cv_wrong' } }));
    const envelope = await refused.json();
    expect(unauthenticated).toEqual({ content: [{ type: 'text', text: JSON.stringify(envelope) }], structuredContent: envelope, isError: true });

    for (const times of [1, 1.2, 1]) {
      const large = await client.callTool({ name: 'echo', arguments: { text: 'x'.repeat(times * DEFAULT_BODY_BYTES) } });
      expect(large).toMatchObject({ isError: true, structuredContent: { status: 'error', data: { code: 'BODY_TOO_LARGE', field: 'body' } } });
    }
    expect(notes()).not.toContain(token);
  });

  it('[transport.bridge.unreachable] answers in the team envelope, keeps running, and works again when the server is back', async () => {
    const t = await testApp();
    const first = await t.serve();
    const { token } = await t.developer('alice');
    const { client, notes } = await bridge(era, { COVIBE_BASE_URL: first.url, COVIBE_MCP_TOKEN: token });
    const { tools } = await client.listTools();
    await first.close(100);

    const result = await client.callTool({ name: 'clock' });
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 'error', feedback: { type: 'error' }, data: { code: 'SERVER_UNREACHABLE' } } });
    expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
    expect(textOf(result)).toContain('covenant up');
    expect((await client.listTools(undefined, { cacheMode: 'refresh' })).tools).toEqual(tools);
    expect(notes()).toContain('SERVER_UNREACHABLE');
    expect(notes()).not.toContain(token);

    const port = Number(new URL(first.url).port);
    const second = await serve({ app: { ...t.app, config: { ...t.app.config, port } }, metrics: createMetrics() });
    onTestFinished(() => second.close(100));
    expect(await client.callTool({ name: 'clock' })).toMatchObject({ isError: false });
  });

  it("passes the client's name and its correlation ids to the journal", async () => {
    const { url, ...t } = await servedApp();
    const { client } = await bridge(era, { COVIBE_BASE_URL: url, COVIBE_MCP_TOKEN: (await t.developer('alice')).token });
    await client.callTool({ name: 'clock', _meta: { 'claudecode/toolUseId': 'toolu_1' } });
    const [event] = await t.events({ category: 'usage', kind: 'clock' });
    expect(event?.payload.correlation).toEqual({ client: 'tester 1.0.0', 'claudecode/toolUseId': 'toolu_1' });
  });

  it('aborts the request to the server when the client cancels', async () => {
    const gone = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const origin = await standIn((request) => {
      request.socket.once('close', gone.resolve);
      asked.resolve();
    });
    const { client } = await bridge(era, { COVIBE_BASE_URL: origin });
    const controller = new AbortController();
    const call = client.callTool({ name: 'clock' }, { signal: controller.signal });
    await asked.promise;
    controller.abort();
    await expect(call).rejects.toThrow();
    await gone.promise;
  });
});

/** These tests cover the requests to the server, which are the same for clients of every MCP version. */
describe('the stdio bridge as a client of the server', () => {
  it('[transport.bridge.token-from-credentials] uses the stored token of the agent that COVIBE_AGENT names', async () => {
    const { url, ...t } = await servedApp();
    const [claude, codex, renewed] = [await t.developer('alice', 'claude-code'), await t.developer('alice', 'codex'), await t.developer('alice', 'codex')];
    const HOME = temporaryFolder();
    const { client } = await bridge('modern', { COVIBE_BASE_URL: url, COVIBE_AGENT: 'codex', HOME });
    expect(await client.callTool({ name: 'clock' })).toMatchObject({ structuredContent: { data: { code: 'UNAUTHENTICATED' } } });

    writeCredentials(HOME, { 'claude-code': claude.token, codex: codex.token });
    expect(await client.callTool({ name: 'clock' })).toMatchObject({ isError: false });
    expect(await tokenOfLastCall(t)).toBe(codex.tokenId);

    writeCredentials(HOME, { 'claude-code': claude.token, codex: renewed.token });
    await client.callTool({ name: 'clock' });
    expect(await tokenOfLastCall(t)).toBe(renewed.tokenId);

    const other = await bridge('modern', { COVIBE_BASE_URL: url, COVIBE_AGENT: 'codex', COVIBE_MCP_TOKEN: claude.token, HOME });
    await other.client.callTool({ name: 'clock' });
    expect(await tokenOfLastCall(t)).toBe(claude.tokenId);
  });

  it('[transport.bridge.keeps-structured-errors] reports that a body is too large even if the refusal of the server is lost', async () => {
    const { client } = await bridge('modern', { COVIBE_BASE_URL: await standIn((request) => void request.socket.resetAndDestroy()) });
    const large = await client.callTool({ name: 'echo', arguments: { text: 'x'.repeat(DEFAULT_BODY_BYTES) } });
    expect(large).toMatchObject({ isError: true, structuredContent: { data: { code: 'BODY_TOO_LARGE', field: 'body' } } });
    expect(await client.callTool({ name: 'echo' })).toMatchObject({ isError: true, structuredContent: { data: { code: 'SERVER_UNREACHABLE' } } });
  });

  it('[transport.bridge.unreachable] answers with an error and the next step if it has no stored tool list', async () => {
    const { client } = await bridge('modern', { COVIBE_BASE_URL: await closedOrigin() });
    await expect(client.listTools()).rejects.toThrow(/cannot be reached.*covenant up.*COVIBE_BASE_URL/);
    expect(await client.callTool({ name: 'clock' })).toMatchObject({ isError: true, structuredContent: { data: { code: 'SERVER_UNREACHABLE' } } });
  });

  it('[transport.bridge.unreachable] reports a lost connection if it breaks in the middle of the answer', async () => {
    const origin = await standIn((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc"');
      setTimeout(() => response.destroy(), 50);
    });
    const { client } = await bridge('modern', { COVIBE_BASE_URL: origin });
    const result = await client.callTool({ name: 'clock' });
    expect(result).toMatchObject({ isError: true, structuredContent: { data: { code: 'SERVER_UNREACHABLE' } } });
    expect(textOf(result)).toContain('may have succeeded');
  });

  it('[transport.bridge.hung] times out if the server sends nothing, or stops in the middle of its answer', async () => {
    const origin = await standIn((request, response) => {
      if (request.headers['mcp-name'] === 'stops') response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc"');
    });
    const { client } = await bridge('modern', { COVIBE_BASE_URL: origin, COVIBE_TIMEOUT_MS: '300' });
    for (const name of ['silent', 'stops', 'silent']) {
      const started = performance.now();
      const result = await client.callTool({ name });
      expect(performance.now() - started).toBeGreaterThan(250);
      expect(performance.now() - started).toBeLessThan(5_000);
      expect(result).toMatchObject({ isError: true, structuredContent: { status: 'error', data: { code: 'SERVER_TIMEOUT' } } });
      expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
    }
    await expect(client.listTools()).rejects.toThrow('did not answer within 300 ms');
  });

  it('[transport.bridge.non-json] answers in the team envelope if the response is not valid', async () => {
    const answers: Record<string, [status: number, body: string, headers: Record<string, string>]> = {
      'a-web-page': [200, '<!doctype html><p>Hello', { 'content-type': 'text/html' }],
      'a-proxy-error': [502, 'Bad Gateway', {}],
      nothing: [200, '', { 'content-type': 'application/json' }],
      'an-empty-stream': [200, ': keepalive\n\n', { 'content-type': 'text/event-stream' }],
      'other-json': [200, '{"hello":"world"}', { 'content-type': 'application/json' }],
      'no-object': [200, 'null', { 'content-type': 'application/json' }],
      'a-redirect': [302, '', { location: `${await closedOrigin()}/mcp` }],
    };
    const origin = await standIn((request, response) => {
      const [status, body, headers] = answers[String(request.headers['mcp-name'] ?? 'a-web-page')] ?? [500, '', {}];
      response.writeHead(status, headers).end(body);
    });
    const { client } = await bridge('modern', { COVIBE_BASE_URL: origin });
    for (const [name, [status]] of Object.entries(answers)) {
      const result = await client.callTool({ name });
      expect(result, name).toMatchObject({ isError: true, structuredContent: { status: 'error', data: { code: 'SERVER_BAD_ANSWER' } } });
      expect(textOf(result)).toContain(`HTTP ${status}`);
      expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
    }
    await expect(client.listTools()).rejects.toThrow('HTTP 200');
    answers['a-web-page'] = [200, '{"jsonrpc":"2.0","id":1,"result":{"tools":"none"}}', { 'content-type': 'application/json' }];
    await expect(client.listTools()).rejects.toThrow('is not from a Covenant server');
  });

  it('reads a streamed answer, and passes on a JSON-RPC error as a JSON-RPC error', async () => {
    const answer = { jsonrpc: '2.0', id: 1, result: { resultType: 'complete', content: [{ type: 'text', text: 'streamed' }] } };
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } };
    const origin = await standIn((request, response) => {
      if (request.headers['mcp-name'] === 'fails')
        response.writeHead(400).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"not so","data":{"a":1}}}');
      else
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end([progress, answer].map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`).join(''));
    });
    const { client } = await bridge('modern', { COVIBE_BASE_URL: origin });
    expect(textOf(await client.callTool({ name: 'streams' }))).toBe('streamed');
    await expect(client.callTool({ name: 'fails' })).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('not so'), data: { a: 1 } });
  });
});

describe('COVIBE_BASE_URL', () => {
  it('[config.env.covibe-base-url] sets the origin of the server whose /mcp the bridge calls', async () => {
    const paths: unknown[] = [];
    const origin = await standIn((request, response) => {
      paths.push(request.url);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"here"}]}}');
    });
    for (const value of [origin, `${origin}/`]) {
      const { client } = await bridge('legacy', { COVIBE_BASE_URL: value });
      expect(textOf(await client.callTool({ name: 'clock' }))).toBe('here');
    }
    expect(paths).toEqual(['/mcp', '/mcp']);
  });

  it('[config.env.covibe-base-url] defaults to http://127.0.0.1:3001, and may be the origin of a remote server', () => {
    expect(readSettings({})).toEqual({ origin: 'http://127.0.0.1:3001', timeoutMs: 35_000 });
    expect(readSettings({ COVIBE_BASE_URL: 'https://team.example', COVIBE_TIMEOUT_MS: '50' })).toEqual({
      origin: 'https://team.example',
      timeoutMs: 50,
      toolsets: undefined,
    });
  });

  it.each([
    'http://alice:secret@127.0.0.1:3001',
    'http://127.0.0.1:3001/mcp?secret',
    'http://127.0.0.1:3001/secret',
    'http://127.0.0.1:3001/#',
    'http://127.0.0.1:3001/?',
    'ftp://127.0.0.1/',
    '127.0.0.1:3001',
    'covenant',
  ])('[config.env.covibe-base-url] cannot be %s, and the error message does not repeat the value', (value) => {
    expect(() => readSettings({ COVIBE_BASE_URL: value })).toThrow(/^COVIBE_BASE_URL (has a|contains a|is not an)(?!.*secret)/);
  });

  it('[config.env.covibe-base-url] stops the bridge with an error message if it is invalid', async () => {
    expect(await run({ COVIBE_BASE_URL: 'http://127.0.0.1:3001/mcp' }, '')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'covibe-mcp: COVIBE_BASE_URL has a path.\n' +
        '    next: Give only the origin of the Covenant server: scheme, host and port, for example http://127.0.0.1:3001.\n',
    });
  });

  it('requires COVIBE_TIMEOUT_MS to be a number', () => {
    for (const value of ['soon', '0', '-1', '1e99']) expect(() => readSettings({ COVIBE_TIMEOUT_MS: value })).toThrow('COVIBE_TIMEOUT_MS');
  });
});

it('writes only JSON-RPC to stdout, writes no token anywhere, and exits when stdin ends', async () => {
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'clock', arguments: { token: 'cv_given' } } };
  const nonsense = ['cv_garbage {', '{"token":"cv_garbage', '{"cv_garbage":1}', '{"jsonrpc":"2.0","id":99,"result":{"x":"cv_garbage"}}'];
  const lines = [...nonsense, JSON.stringify(call), ''];
  const { code, stdout, stderr } = await run({ COVIBE_BASE_URL: await closedOrigin(), COVIBE_MCP_TOKEN: 'cv_configured' }, lines.join('\n'));
  expect(code).toBe(0);
  const messages = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(messages).toMatchObject([{ jsonrpc: '2.0', id: 7, result: { isError: true } }]);
  expect(stderr).toContain('SERVER_UNREACHABLE');
  expect(stdout + stderr).not.toMatch(/cv_(garbage|given|configured)/);
});

it('[transport.bridge.loads-no-database] loads no database module, on start or in a call', async () => {
  const { url, ...t } = await servedApp();
  const log = join(temporaryFolder(), 'modules');
  const probe = `import { registerHooks } from 'node:module'; import { appendFileSync } from 'node:fs';
    registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(log)}, url + '\\n'); return next(url, context); } });`;
  const { client } = await bridge('modern', {
    COVIBE_BASE_URL: url,
    COVIBE_MCP_TOKEN: (await t.developer('alice')).token,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(probe)}`,
  });
  await client.listTools();
  await client.callTool({ name: 'clock' });
  const loaded = readFileSync(log, 'utf8').split('\n');
  expect(loaded).toContainEqual(expect.stringContaining('/src/surfaces/bridge/covenant-server.ts'));
  expect(loaded.filter((module) => /sqlite|\/kysely\/|\/pg(-[a-z]+)?\/|\/src\/(storage|features|main)/.test(module))).toEqual([]);
});

async function directly(era: Era, url: string, token: string): Promise<Client> {
  const client = new Client({ name: 'tester', version: '1.0.0' }, optionsFor(era));
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  onTestFinished(() => client.close());
  return client;
}

function writeCredentials(home: string, tokens: Record<string, string>): void {
  mkdirSync(join(home, '.covibe'), { recursive: true });
  writeFileSync(join(home, '.covibe', 'credentials.json'), JSON.stringify({ tokens }));
}

async function tokenOfLastCall(t: TestApp): Promise<unknown> {
  return (await t.events({ category: 'usage', kind: 'clock' })).at(-1)?.payload.token_id;
}

const resultOf = ({ content, structuredContent, isError }: ToolResult) => ({ content, structuredContent, isError });
