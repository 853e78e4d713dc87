import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { UpstreamError } from '../../kernel/relay.ts';
import { servedApp } from '../../testing/app.ts';
import { connected, ERAS } from '../../testing/mcp-client.ts';
import { fakeUpstreams } from '../../testing/stand-ins/fake-upstreams.ts';
import { until } from '../../testing/until.ts';

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

async function served() {
  const fake = fakeUpstreams();
  for (const name of ['alpha_read', 'beta_read']) fake.tools.set(name, { work: async ({ path }) => ({ ...text(`${name} ${path}`), isError: false }) });
  for (const name of ['alpha_review', 'beta_review'])
    fake.prompts.set(name, async () => ({ messages: [{ role: 'user', content: { type: 'text', text: name } }] }));
  for (const uri of ['test://alpha/a', 'test://beta/b']) fake.resources.set(uri, async () => ({ contents: [{ uri, text: uri }], cacheScope: 'public' }));
  const { url, ...made } = await servedApp({ upstreams: fake.create });
  const ana = await made.developer('ana');
  const grant = (...actions: string[]) => Promise.all(actions.map((action) => made.done('capabilities.grant', { action, developer: 'ana' })));
  return { ...made, fake, url: `${url}/mcp`, ana, grant };
}

const failure = async (work: Promise<unknown>) =>
  await work.then(
    () => expect.unreachable('refused'),
    (error: { code: number; message: string; data?: unknown }) => error,
  );
const about = (error: { code: number; message: string; data?: unknown }, name: string) =>
  JSON.parse(JSON.stringify({ code: error.code, message: error.message, data: error.data }).replaceAll(name, 'NAME'));

test.each(ERAS)(
  'lists the tools, prompts and resources of external servers that the caller may use, together with our own (%s) [gateway.surface.one-catalogue] [gateway.spec.shape]',
  async (era) => {
    const { url, ana, grant, fake } = await served();
    const definition = { title: 'Read', inputSchema: { type: 'object', properties: { path: { type: 'string' } } }, annotations: { readOnlyHint: true } };
    fake.tools.set('alpha_read', { definition, work: async () => text('read') });
    await grant('tool.call.alpha_read', 'prompt.get.alpha_review', 'resource.read.alpha');
    const client = await connected(url, ana.token, era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).slice(-1)).toEqual(['alpha_read']);
    expect(tools.map(({ name }) => name)).toContain('clock');
    expect(tools.at(-1)).toEqual({ name: 'alpha_read', description: 'The tool alpha_read.', ...definition });
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['alpha_review']);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['covenant://guide', 'test://alpha/a']);
    expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['test://alpha/a/{id}']);
    const team = await connected(`${url}/team`, ana.token, era);
    expect((await team.listTools()).tools.map(({ name }) => name)).not.toContain('alpha_read');
    expect((await team.listResources()).resources.map(({ uri }) => uri)).toEqual(['covenant://guide']);
    expect((await team.listResourceTemplates()).resourceTemplates).toEqual([]);
    await expect(team.readResource({ uri: 'test://alpha/a' })).rejects.toThrow();
  },
);

test.each(ERAS)('passes results and errors of an external server on unchanged (%s) [gateway.result.shape] [gateway.result.own-content]', async (era) => {
  const { url, ana, grant, fake, events } = await served();
  const results = {
    alpha_all: {
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'test://alpha/a', text: 'b' } },
        { type: 'resource_link', uri: 'test://alpha/a', name: 'a' },
      ],
      structuredContent: { deep: [1, null, { two: 2 }] },
      _meta: { 'alpha/own': 1 },
    },
    alpha_fails: { ...text('no'), isError: true },
  };
  for (const [name, result] of Object.entries(results)) fake.tools.set(name, { work: async () => result });
  fake.tools.set('alpha_refuses', {
    work: async () => {
      throw new UpstreamError('alpha', { code: -32050, message: 'not today', data: { why: 'closed' } });
    },
  });
  await grant('tool.call.alpha_all', 'tool.call.alpha_fails', 'tool.call.alpha_refuses', 'prompt.get.alpha_review', 'resource.read.alpha');
  const client = await connected(url, ana.token, era);
  for (const [name, result] of Object.entries(results)) expect(await client.callTool({ name, arguments: {} })).toMatchObject(result);
  expect(await failure(client.callTool({ name: 'alpha_refuses', arguments: {} }))).toMatchObject({
    code: -32050,
    message: /not today/,
    data: { why: 'closed' },
  });
  expect(await client.getPrompt({ name: 'alpha_review' })).toMatchObject({ messages: [{ role: 'user', content: { text: 'alpha_review' } }] });
  expect(await client.readResource({ uri: 'test://alpha/a' })).toMatchObject({ contents: [{ uri: 'test://alpha/a', text: 'test://alpha/a' }] });
  const complete = (ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }) =>
    client.complete({ ref, argument: { name: 'id', value: '7' } });
  expect(await complete({ type: 'ref/prompt', name: 'alpha_review' })).toMatchObject({ completion: { values: ['alpha_review:7'] } });
  expect(await complete({ type: 'ref/resource', uri: 'test://alpha/a/{id}' })).toMatchObject({ completion: { values: ['7'] } });
  const used = (await events({ category: 'usage' }))
    .filter(({ payload }) => payload.server === 'alpha')
    .map(({ subject, payload }) => [subject, payload.outcome]);
  expect(used).toEqual([
    ['tool:alpha_all', 'ok'],
    ['tool:alpha_fails', 'error_result'],
    ['tool:alpha_refuses', 'failed'],
    ['prompt:alpha_review', 'ok'],
    ['resource:alpha', 'ok'],
    ['prompt:alpha_review', 'ok'],
    ['resource:alpha', 'ok'],
  ]);
});

test('wraps structured content that is not an object for clients of the older revisions, as the tool list announces', async () => {
  const { url, ana, grant, fake } = await served();
  const outputSchema = { type: 'array', items: { type: 'number' } };
  fake.tools.set('alpha_list', { definition: { outputSchema }, work: async () => ({ content: [], structuredContent: [1, 2] }) });
  await grant('tool.call.alpha_list');
  const listed = async (client: Client) => (await client.listTools()).tools.find(({ name }) => name === 'alpha_list')?.outputSchema;
  const [legacy, modern] = [await connected(url, ana.token, 'legacy'), await connected(url, ana.token)];
  expect(await listed(modern)).toEqual(outputSchema);
  expect(await listed(legacy)).toMatchObject({ type: 'object', properties: { result: outputSchema } });
  expect(await modern.callTool({ name: 'alpha_list', arguments: {} })).toMatchObject({ structuredContent: [1, 2] });
  expect(await legacy.callTool({ name: 'alpha_list', arguments: {} })).toMatchObject({ structuredContent: { result: [1, 2] } });
});

test.each(ERAS)('converts content of an unknown kind to text for a %s client, and keeps the rest', async (era) => {
  const { url, ana, grant, fake } = await served();
  fake.tools.set('alpha_odd', {
    work: async () => ({
      content: [
        { type: 'text', text: 'plain' },
        { type: 'hologram', data: 1 },
      ],
    }),
  });
  await grant('tool.call.alpha_odd');
  const client = await connected(url, ana.token, era);
  expect(await client.callTool({ name: 'alpha_odd', arguments: {} })).toMatchObject({
    content: [
      { type: 'text', text: 'plain' },
      { type: 'text', text: '{"type":"hologram","data":1}' },
    ],
  });
});

test('never lets a cache share a resource between callers', async () => {
  const { url, ana, grant } = await served();
  await grant('resource.read.alpha');
  const client = await connected(url, ana.token);
  expect(await client.readResource({ uri: 'test://alpha/a' })).toMatchObject({ cacheScope: 'private' });
});

test.each(ERAS)('gives callers without the grant the same answer for existing and missing names, and records each attempt (%s)', async (era) => {
  const { url, ana, grant, events } = await served();
  await grant('resource.read.alpha');
  const client = await connected(url, ana.token, era);
  const prompts = await Promise.all(['beta_review', 'nobodys'].map(async (name) => about(await failure(client.getPrompt({ name })), name)));
  expect(prompts[0]).toEqual(prompts[1]);
  expect(prompts[0]).toMatchObject({ code: -32602, message: /lacks prompt\.get\.NAME.*capabilities grant/, data: { code: 'CAPABILITY_DENIED' } });
  const resources = await Promise.all(['test://beta/b', 'test://beta/none'].map(async (uri) => about(await failure(client.readResource({ uri })), uri)));
  expect(resources[0]).toEqual(resources[1]);
  expect(resources[0]).toEqual({ code: -32602, message: expect.stringMatching(/Resource not found: NAME/), data: { uri: 'NAME' } });
  const refs = ['test://beta/b/{id}', 'test://beta/none/{id}'];
  const argument = { name: 'id', value: '7' };
  const completions = await Promise.all(refs.map(async (uri) => about(await failure(client.complete({ ref: { type: 'ref/resource', uri }, argument })), uri)));
  expect(completions[0]).toEqual(completions[1]);
  const checks = (await events({ kind: 'CapabilityCheck' })).filter(({ payload }) => !payload.passed).map(({ subject }) => subject);
  expect(checks.sort()).toEqual(['prompt:beta_review', 'prompt:nobodys', ...Array(4).fill('resource:(nobody)')]);
  // The journal does not reveal the server either.
  const used = await events({ category: 'usage' });
  expect(used.filter(({ payload }) => payload.outcome === 'denied').map(({ payload }) => payload.server)).toEqual(Array(6).fill(undefined));
});

test('reports an unknown prompt to a caller with the grant', async () => {
  const { url, ana, grant } = await served();
  await grant('prompt.get.nobodys');
  const client = await connected(url, ana.token);
  expect(await failure(client.getPrompt({ name: 'nobodys' }))).toMatchObject({ code: -32602, data: { code: 'UNKNOWN_PROMPT' } });
});

const CHANGES = ['tools', 'prompts', 'resources'] as const;

/** The notifications to the client, in the format of its era. */
async function told(client: Client, era: (typeof ERAS)[number], uris: string[] = []): Promise<string[]> {
  const heard: string[] = [];
  for (const kind of CHANGES) client.setNotificationHandler(`notifications/${kind}/list_changed`, () => void heard.push(kind));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
  if (era === 'modern') {
    const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    const listening = await client.listen(uris.length > 0 ? { resourceSubscriptions: uris } : lists);
    heard.push(...(listening.honoredFilter.resourceSubscriptions ?? []).map((uri) => `honored ${uri}`));
  } else
    for (const uri of uris)
      heard.push(
        await client.subscribeResource({ uri }).then(
          () => `honored ${uri}`,
          () => `refused ${uri}`,
        ),
      );
  return heard;
}

test.each(ERAS)('notifies a %s client when an external server or a grant changes its lists', async (era) => {
  const { url, ana, grant, fake, developer, done } = await served();
  const bob = await developer('bob');
  const client = await connected(url, ana.token, era);
  expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true }, prompts: { listChanged: true }, resources: { subscribe: true } });
  const heard = await told(client, era);
  await until(async () => {
    // A legacy client opens its stream in the background.
    fake.change({ kind: 'prompts' });
    expect(heard).toContain('prompts');
  });
  const since = () => heard.filter((kind) => kind !== 'prompts');
  await done('capabilities.grant', { action: 'tool.call.beta_read', token: bob.tokenId });
  await grant('resource.read.beta');
  await until(() => expect(since()).toEqual(['resources']));
  await done('capabilities.revoke', { action: 'resource.read.beta', developer: 'ana' });
  await grant('tool.call.alpha_read');
  await until(() => expect(since().sort()).toEqual(['resources', 'resources', 'tools']));
  heard.length = 0;
  for (let times = 0; times < 50; times++) fake.change({ kind: 'tools' });
  fake.change({ kind: 'resources' });
  await until(() => expect(heard).toContain('resources'));
  expect(since()).toEqual(['tools', 'resources']);
});

test.each(ERAS)('notifies a %s client of changes to its subscribed resources while it may read them', async (era) => {
  const { url, ana, grant, fake, done, events } = await served();
  const [mine, also, hidden] = ['test://alpha/a', 'test://gamma/c', 'test://beta/b'] as const;
  fake.resources.set(also, async () => ({ contents: [] }));
  await grant('resource.read.alpha', 'resource.read.gamma');
  const client = await connected(url, ana.token, era);
  const heard = await told(client, era, [mine, hidden, 'test://alpha/none', also]);
  expect(heard.filter((line) => line.startsWith('honored'))).toEqual([`honored ${mine}`, `honored ${also}`]);
  expect(fake.watched).toEqual(new Set([mine, also]));
  expect((await events({ kind: 'CapabilityCheck' })).map(({ subject }) => subject)).toContain('resource:alpha');
  const updated = (uri: string, server = new URL(uri).host) => fake.change({ kind: 'resource', server, uri });
  // A legacy client opens its stream in the background.
  await until(() => {
    updated(also);
    expect(heard).toContain(also);
  });
  updated(mine);
  await until(() => expect(heard).toContain(mine));
  await done('capabilities.revoke', { action: 'resource.read.alpha', developer: 'ana' });
  heard.length = 0;
  updated(hidden);
  updated(mine, 'beta');
  updated(mine);
  updated(also);
  await until(() => expect(heard).toContain(also));
  expect(heard).not.toContain(mine);
  expect(heard).not.toContain(hidden);
  await client.close();
  if (era === 'modern') await until(() => expect(fake.watched.size).toBe(0));
});

test('ends all watches of a stream that is refused', async () => {
  const { url, ana, grant, fake } = await served();
  await grant('resource.read.alpha');
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  const notifications = { resourceSubscriptions: ['test://alpha/a'], toolsListChanged: 'perhaps' };
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ana.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta, notifications } }),
  });
  expect(await answer.json()).toMatchObject({ error: { code: -32602 } });
  expect(fake.watched.size).toBe(0);
});

test('stops notifications and ends the watch when a legacy client unsubscribes', async () => {
  const { url, ana, grant, fake } = await served();
  await grant('resource.read.alpha');
  const client = await connected(url, ana.token, 'legacy');
  await client.subscribeResource({ uri: 'test://alpha/a' });
  await client.unsubscribeResource({ uri: 'test://alpha/a' });
  expect(fake.watched.size).toBe(0);
});

const APPROVE = { approve: true };

test.each(ERAS)('completions and subscriptions of %s clients need the grant but no approval', async (era) => {
  const { url, ana, fake, done, events } = await served();
  for (const action of ['prompt.get.alpha_review', 'resource.read.alpha']) await done('capabilities.grant', { action, developer: 'ana', scope: APPROVE });
  const client = await connected(url, ana.token, era);
  const argument = { name: 'id', value: '7' };
  await client.complete({ ref: { type: 'ref/prompt', name: 'alpha_review' }, argument });
  await client.complete({ ref: { type: 'ref/resource', uri: 'test://alpha/a/{id}' }, argument });
  await told(client, era, ['test://alpha/a']);
  expect(fake.watched).toEqual(new Set(['test://alpha/a']));
  await failure(client.complete({ ref: { type: 'ref/prompt', name: 'beta_review' }, argument }));
  expect(await events({ kind: 'approval.requested' })).toEqual([]);
  expect(
    (await events({ category: 'usage' })).filter(({ actor }) => actor === ana.principal.actor).map(({ kind, payload }) => [kind, payload.outcome]),
  ).toEqual([
    ['prompt.complete', 'ok'],
    ['resource.complete', 'ok'],
    ['resource.subscribe', 'ok'],
    ['prompt.complete', 'denied'],
  ]);
  const read = failure(client.readResource({ uri: 'test://alpha/a' }));
  await done('approvals.refuse', await waiting(done));
  expect(await read).toMatchObject({ data: { code: 'APPROVAL_REFUSED' } });
});

const waiting = async (done: (name: string, input: object) => Promise<Record<string, unknown>>) =>
  await until(async () => {
    const [item] = (await done('approvals.list', {})).items as { approval_id: string }[];
    expect(item).toBeDefined();
    return { approval_id: item?.approval_id };
  });

test('requests no approval for a prompt that does not exist, and refuses a prompt that disappeared while its call waited for approval', async () => {
  const { url, ana, fake, done, events } = await served();
  for (const name of ['nobodys', 'alpha_review']) await done('capabilities.grant', { action: `prompt.get.${name}`, developer: 'ana', scope: APPROVE });
  const client = await connected(url, ana.token);
  expect(await failure(client.getPrompt({ name: 'nobodys' }))).toMatchObject({ data: { code: 'UNKNOWN_PROMPT' } });
  expect(await events({ kind: 'approval.requested' })).toEqual([]);
  const call = failure(client.getPrompt({ name: 'alpha_review' }));
  const approval = await waiting(done);
  fake.prompts.delete('alpha_review');
  await done('approvals.approve', approval);
  expect(await call).toMatchObject({ data: { code: 'UNKNOWN_PROMPT' } });
});

test.each(ERAS)('returns the reason of a refusal to a %s client, even if the tool has an output schema', async (era) => {
  const { url, ana, fake, done, clock } = await served();
  const outputSchema = { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] };
  fake.tools.set('alpha_count', { definition: { outputSchema }, work: async () => ({ content: [], structuredContent: { count: 1 } }) });
  await done('capabilities.grant', { action: 'tool.call.alpha_count', developer: 'ana', scope: APPROVE });
  const client = await connected(url, ana.token, era);
  await client.listTools();
  const call = client.callTool({ name: 'alpha_count', arguments: {} });
  await waiting(done);
  clock.advance(600_001);
  expect(await call).toMatchObject({ isError: true, structuredContent: { status: 'blocked', data: { code: 'APPROVAL_TIMEOUT' } } });
});
