import type { Client } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { expect, test } from 'vitest';
import { TOOLSETS, type Toolset } from '../../kernel/contract.ts';
import type { Registry } from '../../kernel/registry.ts';
import { servedApp } from '../../testing/app.ts';
import { fixtureFeature } from '../../testing/fixture.ts';
import { connected, ERAS } from '../../testing/mcp-client.ts';
import { instructionsFor } from './instructions.ts';
import { toolsetsOfPath } from './toolsets.ts';

const served = () => servedApp({ features: [fixtureFeature] });

const names = async (client: Client) => (await client.listTools()).tools.map((tool) => tool.name);

test.each(ERAS)('lists and calls tools on every MCP path for a %s client [transport.mcp.both-eras]', async (era) => {
  const { app, url, developer } = await served();
  const { token, principal } = await developer('ana');
  for (const path of [undefined, 'team', 'gateway', 'team+gateway', 'workflow', 'cycle', 'all']) {
    const client = await connected(`${url}/mcp${path ? `/${path}` : ''}`, token, era);
    const listed = await names(client);
    expect(listed.length).toBeGreaterThan(0);
    const instructions = client.getInstructions() ?? '';
    expect(instructions).toBe(instructionsFor(toolsetsOfPath(path, principal) ?? new Set()));
    // The instructions must not name tools that are not listed.
    for (const { name } of app.registry.tools()) if (new RegExp(`\\b${name}\\b`).test(instructions)) expect(listed).toContain(name);
  }
  const client = await connected(`${url}/mcp`, token, era);
  const result = await client.callTool({ name: 'clock', arguments: {} });
  expect(result).toMatchObject({ isError: false, structuredContent: { epoch_ms: expect.any(Number) } });
});

/** The tool names of these toolsets. For the gateway, only `clock` and the granted tools. */
const namesOf = ({ registry }: { registry: Registry }, toolsets: Toolset[], granted: string[] = []) =>
  registry
    .tools()
    .filter(({ name, toolset }) => toolsets.includes(toolset) && (toolset !== 'gateway' || ['clock', ...granted].includes(name)))
    .map(({ name }) => name);

test('serves one toolset at /mcp/<toolset>, several toolsets at joined paths, and all toolsets at /mcp/all [transport.mcp.toolset-path] [transport.mcp.toolsets-joined]', async () => {
  const { url, developer, app } = await served();
  const { token } = await developer('ana');
  expect(await names(await connected(`${url}/mcp/team`, token))).toEqual(namesOf(app, ['team']));
  expect(namesOf(app, ['team'])).toContain('covibe_fixture');
  expect(await names(await connected(`${url}/mcp/gateway`, token))).toEqual(['clock']);
  expect(await names(await connected(`${url}/mcp/team+gateway`, token))).toEqual(namesOf(app, ['team', 'gateway']));
  expect(await names(await connected(`${url}/mcp/all`, token))).toEqual(namesOf(app, ['team', 'workflow', 'cycle', 'gateway']));
  const eight = ['cycle.archive', 'cycle.complete', 'cycle.start', 'cycle.status', 'handoff.read', 'handoff.write', 'lock.acquire', 'session.open'];
  expect(await names(await connected(`${url}/mcp/cycle`, token))).toEqual(eight);
  const team = await connected(`${url}/mcp/team`, token);
  for (const name of ['nope', 'clock', 'echo']) {
    expect(await team.callTool({ name, arguments: {} })).toMatchObject({
      isError: true,
      structuredContent: { status: 'error', data: { code: 'UNKNOWN_TOOL' } },
    });
  }
  const cycle = await connected(`${url}/mcp/cycle`, token);
  for (const name of ['nope', 'echo', 'covibe_fixture']) {
    expect(await cycle.callTool({ name, arguments: {} })).toMatchObject({ isError: true, structuredContent: { ok: false, error: { code: 'INVALID_TOOL' } } });
  }
  const hint = await cycle.callTool({ name: 'covibe_fixture', arguments: {} });
  expect(JSON.stringify(hint.structuredContent)).toContain('/mcp/team');
  for (const path of ['/mcp/admin', '/mcp/nope', '/mcp/team+nope']) {
    expect((await fetch(`${url}${path}`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' })).status).toBe(404);
  }
});

test('serves a developer the team tools and the granted gateway tools at /mcp [transport.mcp.default-toolsets]', async () => {
  const { url, developer, done, operator, app } = await served();
  const ana = await developer('ana', 'codex');
  expect(await names(await connected(`${url}/mcp`, ana.token))).toEqual(namesOf(app, ['team', 'gateway']));
  await done('capabilities.grant', { action: 'tool.call.echo', developer: 'ana' });
  expect(await names(await connected(`${url}/mcp`, ana.token))).toEqual(namesOf(app, ['team', 'gateway'], ['echo']));
  expect(await names(await connected(`${url}/mcp`, operator.token))).toEqual(['clock']);
});

test('lists only tools that the caller may call', async () => {
  const { url, developer, done } = await served();
  const ana = await developer('ana');
  await done('capabilities.revoke', { action: 'toolset.team', token: ana.tokenId });
  expect(await names(await connected(`${url}/mcp/team+gateway`, ana.token))).toEqual(['clock']);
});

test.each(ERAS)(
  'returns the envelope as structured content and as text, and marks only errors as errors (%s) [transport.reply.structured-and-text] [transport.reply.is-error] [transport.reply.output-schema]',
  async (era) => {
    const { url, developer } = await served();
    const client = await connected(`${url}/mcp`, (await developer('ana')).token, era);
    const { tools } = await client.listTools();
    const validate = new AjvJsonSchemaValidator().getValidator(tools.find((tool) => tool.name === 'covibe_fixture')?.outputSchema as object);
    const cases: [Record<string, unknown>, string, boolean][] = [
      [{ operation: 'look', what: 'x' }, 'ok', false],
      [{ operation: 'change', what: 'b', fail: 'block' }, 'blocked', false],
      [{ operation: 'change', what: 'r', fail: 'refuse' }, 'error', true],
      [{ operation: 'change', what: 'c', fail: 'crash' }, 'error', true],
      [{ operation: 'look', waht: 'x' }, 'error', true],
      [{ operation: 'nope' }, 'error', true],
    ];
    for (const [args, status, isError] of cases) {
      const result = await client.callTool({ name: 'covibe_fixture', arguments: args });
      expect(result.structuredContent).toMatchObject({ status });
      expect(result.isError).toBe(isError);
      expect(JSON.parse((result.content as { text: string }[])[0]?.text ?? '')).toEqual(result.structuredContent);
      expect(validate(result.structuredContent).valid).toBe(true);
    }
  },
);

test('lists a tool with name, description and inputSchema, and echo exactly as documented [gateway.spec.shape] [gateway.echo.spec] [gateway.native.bundled] [gateway.surface.one-catalogue]', async () => {
  const { url, done, operator } = await served();
  await done('capabilities.grant', { action: 'tool.call.echo' });
  const client = await connected(`${url}/mcp`, operator.token);
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual(['clock', 'echo']);
  expect(tools.find((tool) => tool.name === 'echo')).toMatchObject({
    description: 'Return the given text unchanged.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  });
  expect(await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).toMatchObject({ content: [{ type: 'text', text: 'hi' }], isError: false });
});

test('a call has the same checks, effect and events over MCP in both eras and over /api/mcp [transport.pipe.same-everywhere]', async () => {
  const { url, developer, events } = await served();
  const ana = await developer('ana');
  const trace = async (call: () => Promise<unknown>) => {
    const before = (await events()).length;
    await call();
    return (await events())
      .slice(before)
      .map(({ category, kind, actor, subject, payload }) => ({ category, kind, actor, subject, outcome: payload.outcome, digest: payload.arguments_sha256 }));
  };
  const direct = (body: unknown) =>
    fetch(`${url}/api/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ana.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  for (const [tool, args] of [
    ['covibe_fixture', { operation: 'look' }],
    ['echo', { text: 'x' }],
    ['covibe_fixture', { operation: 'nope' }],
  ] as const) {
    const traces = [await trace(() => direct({ tool, arguments: args }))];
    for (const era of ERAS) {
      const client = await connected(`${url}/mcp/all`, ana.token, era);
      traces.push(await trace(() => client.callTool({ name: tool, arguments: args })));
    }
    expect(traces[1]).toEqual(traces[0]);
    expect(traces[2]).toEqual(traces[0]);
  }
});

test('tells a client with an unknown session to initialize again, and announces list_changed only to clients that it can notify', async () => {
  const { url, developer } = await served();
  const { token } = await developer('ana');
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const answer = await fetch(`${url}/mcp`, { method: 'POST', headers: { ...headers, 'mcp-session-id': 'from-before-the-restart' }, body });
  expect(answer.status).toBe(404);
  for (const era of ERAS) expect((await connected(`${url}/mcp`, token, era)).getServerCapabilities()?.tools?.listChanged).toBe(true);
});

test('answers 401 to a client without a token', async () => {
  const { url } = await served();
  await expect(connected(`${url}/mcp`, `cv_${'A'.repeat(43)}`)).rejects.toThrow(/401|Unauthorized/);
});

test('keeps the instructions under 700 tokens, counted as three characters per token [transport.mcp.instructions-limit]', () => {
  expect(instructionsFor(new Set(TOOLSETS)).length / 3).toBeLessThan(700);
});
