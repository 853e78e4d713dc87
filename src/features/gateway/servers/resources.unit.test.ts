import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import type { Json } from '../../../kernel/relay.ts';
import { serveFixture } from '../../../testing/stand-ins/conformance-server.ts';
import { recordingServer } from '../../../testing/stand-ins/recording-server.ts';
import { child, EVERYTHING, exchangeOf, FILESYSTEM, npm, type UpstreamApp, upstreamApp } from '../../../testing/stand-ins/upstreams.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import type { ServerEntry } from './entry.ts';
import { Notices, type NoticesOptions } from './notices.ts';
import { indexResources } from './resources.ts';
import type { UpstreamFacts } from './store.ts';
import type { UpstreamChange } from './upstream-offers.ts';

const textOf = ({ body }: { body: Record<string, unknown> }) => (body.content as { text: string }[])[0]?.text;
const everybody = () => true;
const context = (app: UpstreamApp, ms = 10_000) => ({ signal: AbortSignal.timeout(ms), exchange: exchangeOf(), requestId: 'req_test', log: app.app.log });

test('resources keep their URIs, name their server, and are read from the server that has them', async () => {
  const far = await serveFixture('modern');
  onTestFinished(() => far.close());
  const app = await upstreamApp([
    { name: 'first', ...npm(EVERYTHING, 'stdio') },
    { name: 'second', url: far.url },
    { name: 'third', url: far.url },
  ]);
  for (const name of ['first', 'second', 'third']) await app.event('upstream.started', name);
  const { upstreams } = app.app;
  expect(upstreams.in(DEFAULT_WORKSPACE_ID).abilities()).toEqual({ prompts: true, resources: true, completions: true, logging: true });
  expect(
    upstreams
      .in(DEFAULT_WORKSPACE_ID)
      .resources()
      .filter(({ definition }) => definition.uri === 'test://static-text'),
  ).toMatchObject([
    { server: 'second', definition: { name: 'second_static-text', _meta: { 'covenant/server': 'second' } } },
    { server: 'third', definition: { name: 'third_static-text', _meta: { 'covenant/server': 'third' } } },
  ]);
  const holder = (uri: string, mayRead: (server: string) => boolean = everybody) => upstreams.in(DEFAULT_WORKSPACE_ID).holderOf(uri, mayRead)?.server;
  expect(holder('test://static-text')).toBe('second');
  expect(holder('test://static-text', (server) => server !== 'second')).toBe('third');
  expect(holder('test://template/7/data')).toBe('second');
  expect(holder('demo://resource/dynamic/text/3')).toBe('first');
  expect(holder('unknown://x')).toBeUndefined();
  expect(holder('unknown://x', (server) => server === 'third')).toBe('third');
  expect(holder('test://static-text', () => false)).toBeUndefined();

  const read = async (uri: string) => await upstreams.in(DEFAULT_WORKSPACE_ID).holderOf(uri, everybody)?.read(uri, context(app));
  expect(await read('test://template/7/data')).toMatchObject({
    contents: [{ uri: 'test://template/7/data', text: expect.stringContaining('Data for ID: 7') }],
  });
  expect(await read('demo://resource/dynamic/text/3')).toMatchObject({ contents: [{ text: expect.any(String) }] });
  await expect(upstreams.in(DEFAULT_WORKSPACE_ID).holderOf('test://static-text', everybody)?.read('test://no-such', context(app))).rejects.toMatchObject({
    rpc: { code: -32602 },
  });
  const template = 'test://template/{id}/data';
  const completed = await upstreams
    .in(DEFAULT_WORKSPACE_ID)
    .holderOfTemplate(template, everybody)
    ?.complete(template, { argument: { name: 'id', value: 'par' } }, context(app));
  expect(completed).toMatchObject({ completion: { values: ['paris', 'park', 'party'] } });
});

test('prompts are offered under their server, fetched and completed', async () => {
  const app = await upstreamApp([{ name: 'all', ...npm(EVERYTHING, 'stdio') }]);
  await app.event('upstream.started', 'all');
  const { upstreams } = app.app;
  expect(
    upstreams
      .in(DEFAULT_WORKSPACE_ID)
      .prompts()
      .map(({ name, definition }) => [name, definition.name]),
  ).toContainEqual(['all_simple-prompt', 'all_simple-prompt']);
  const prompt = upstreams.in(DEFAULT_WORKSPACE_ID).prompt('all_args-prompt');
  expect(await prompt?.get({ city: 'Rome' }, context(app))).toMatchObject({ messages: [{ role: 'user', content: { text: expect.stringContaining('Rome') } }] });
  const completed = await upstreams
    .in(DEFAULT_WORKSPACE_ID)
    .prompt('all_completable-prompt')
    ?.complete({ argument: { name: 'department', value: 'E' } }, context(app));
  expect(completed).toMatchObject({ completion: { values: expect.arrayContaining(['Engineering']) } });
});

test('a real file server reads files in its folder and refuses others itself', async () => {
  const folder = realpathSync(temporaryFolder());
  writeFileSync(join(folder, 'note.txt'), 'kept');
  const app = await upstreamApp([{ name: 'files', ...npm(FILESYSTEM, folder) }]);
  await app.event('upstream.started', 'files');
  const read = async (path: string) => (await app.call('files_read_text_file', { path })).body as { content: Json[]; isError?: boolean };
  expect(await read(join(folder, 'note.txt'))).toMatchObject({ content: [{ type: 'text', text: 'kept' }] });
  expect(await read('/etc/hostname')).toMatchObject({ isError: true });
});

test.each(['older', 'newer'])('changes of a watched resource of an %s server are reported until nobody watches it, even after a restart', async (era) => {
  const recording = era === 'newer' ? await recordingServer() : undefined;
  const app = await upstreamApp([{ name: 'far', ...(recording ? { url: recording.url } : child('watched')) }]);
  await app.event('upstream.started', 'far');
  const told: UpstreamChange[] = [];
  app.app.upstreams.onChange((change) => change.kind === 'resource' && told.push(change));
  const uri = 'note:one';
  const news = async () => {
    told.length = 0;
    await app.call('far_update', {});
    return await app.until(() => told[0], 'the news of the resource');
  };
  const holder = app.app.upstreams.in(DEFAULT_WORKSPACE_ID).holderOf(uri, everybody);
  const release = [await holder?.watch(uri), await holder?.watch(uri)];
  expect(await news()).toEqual({ kind: 'resource', server: 'far', uri });
  expect(told).toHaveLength(1);
  release[0]?.();
  await app.done('servers.restart', { server: 'far' });
  if (recording) await app.until(() => recording.requests.filter(({ body }) => body.method === 'subscriptions/listen').length === 2);
  expect(await news()).toEqual({ kind: 'resource', server: 'far', uri });
  release[1]?.();
  if (!recording) await app.until(async () => textOf(await app.call('far_update', {})) === '0', 'the end of the subscription');
  told.length = 0;
  await app.call('far_update', {});
  expect(told).toEqual([]);
});

test('a broken change stream is reopened, and missed changes are looked up', async () => {
  const far = await recordingServer();
  const app = await upstreamApp([{ name: 'far', url: far.url }]);
  await app.event('upstream.started', 'far');
  const uri = 'note:one';
  await app.app.upstreams.in(DEFAULT_WORKSPACE_ID).holderOf(uri, everybody)?.watch(uri);
  const sent = (method: string) => far.requests.filter(({ body }) => body.method === method).length;
  expect([sent('subscriptions/listen'), sent('tools/list')]).toEqual([1, 1]);
  far.drop();
  await app.until(() => {
    app.clock.advance(1_000);
    return sent('subscriptions/listen') === 2 && sent('tools/list') === 2;
  });
  expect((await app.server('far')).restarts).toBe(0);
  const told = new Promise((resolve) => app.app.upstreams.onChange((change) => change.kind === 'resource' && resolve(change)));
  await app.call('far_update', {});
  expect(await told).toEqual({ kind: 'resource', server: 'far', uri });
});

test('until a server is first seen, all abilities are declared, and afterwards only those that it has', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('plain') }]);
  expect(app.app.upstreams.in(DEFAULT_WORKSPACE_ID).abilities()).toEqual({ prompts: true, resources: true, completions: true, logging: true });
  await app.event('upstream.started', 'far');
  expect(app.app.upstreams.in(DEFAULT_WORKSPACE_ID).abilities()).toEqual({ prompts: false, resources: false, completions: false, logging: false });
});

test('a server without resources returns none to any caller', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('plain') }]);
  await app.event('upstream.started', 'far');
  expect(app.app.upstreams.in(DEFAULT_WORKSPACE_ID).holderOf('file:///x', everybody)).toBeUndefined();
});

test('a deleted resource does not prevent the subscriptions of the others', async () => {
  const subscribed: string[] = [];
  const subscribeResource = async ({ uri }: { uri: string }) => {
    if (uri === 'note:gone') throw new Error('there is none');
    subscribed.push(uri);
  };
  const client = { getProtocolEra: () => 'legacy', getServerCapabilities: () => ({ resources: { subscribe: true } }), subscribeResource };
  const notices = new Notices({ client, clock: { now: () => 0 }, ackTimeoutMs: 1, missed: () => {}, broken: () => {} } as unknown as NoticesOptions);
  await expect(notices.watch(['note:one', 'note:gone', 'note:two'])).rejects.toThrow('there is none');
  expect(subscribed).toEqual(['note:one', 'note:two']);
});

test('matching a URI against templates is limited in time, however many a server lists', () => {
  const facts = (uriTemplates: string[]) =>
    ({ capabilities: { resources: {} }, resources: [], resourceTemplates: uriTemplates.map((uriTemplate) => ({ uriTemplate })) }) as unknown as UpstreamFacts;
  const server = (name: string, uriTemplates: string[]) => ({ entry: { name, prefix: false } as ServerEntry, facts: facts(uriTemplates) });
  const greedy = Array.from({ length: 10_000 }, (_, at) => `${'{+a}'.repeat(60)}${at}`);
  const plain = Array.from({ length: 10_000 }, (_, at) => `note://${at}/{id}`);
  const index = indexResources([server('plain', plain), server('greedy', greedy)]);
  expect(index.holderOf('note://9999/7', everybody)).toBe('plain');
  // No template matches, because the search stops at its step limit; trying them all would take minutes. Both servers have resources, so it is
  // not known which of them has this one.
  expect(index.holderOf(`x${'9999'.repeat(1_000)}`, everybody)).toBeUndefined();
});
