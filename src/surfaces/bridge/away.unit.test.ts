import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type TestApp, testApp } from '../../testing/app.ts';
import { ERAS, type Era } from '../../testing/mcp-client.ts';
import { bridge } from '../../testing/programs/bridge.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { createMetrics } from '../http/metrics.ts';
import { serve } from '../http/server.ts';

describe.each(ERAS)('a %s client that starts while the server is away', (era) => {
  it('[transport.bridge.unreachable] gets the last known tool list, is notified of changes when the server is back, and can then call tools', async () => {
    const t = await testApp();
    const { url, close } = await t.serve();
    const env = { COVIBE_BASE_URL: url, COVIBE_MCP_TOKEN: (await t.developer('alice')).token, HOME: temporaryFolder() };
    const { tools } = await (await bridge(era, env)).client.listTools();
    await close(100);
    const remembered = JSON.parse(readFileSync(cached(env.HOME), 'utf8')) as { tools: { name: string }[] };
    writeFileSync(cached(env.HOME), JSON.stringify({ tools: remembered.tools.filter(({ name }) => name !== 'clock') }));

    const { client } = await bridge(era, env);
    const { told } = await changeOf(client, era);
    const last = await client.listTools();
    expect(last.tools).toEqual(tools.filter(({ name }) => name !== 'clock'));
    // The client must not cache the list, because the server may be back at any moment.
    expect(last.ttlMs).toBe(0);
    expect(await client.callTool({ name: 'clock' })).toMatchObject({ isError: true, structuredContent: { data: { code: 'SERVER_UNREACHABLE' } } });

    await serveAgain(t, url);
    expect(await client.callTool({ name: 'clock' })).toMatchObject({ isError: false });
    await told;
    expect((await client.listTools(undefined, { cacheMode: 'refresh' })).tools).toEqual(tools);
  });

  it('is notified to read the tool list again when the server is back, if its first request for the list failed', async () => {
    const t = await testApp();
    const { url, close } = await t.serve();
    await close(100);
    const { client } = await bridge(era, { COVIBE_BASE_URL: url, COVIBE_MCP_TOKEN: (await t.developer('alice')).token });
    const { told } = await changeOf(client, era);
    await expect(client.listTools()).rejects.toThrow('cannot be reached');
    await serveAgain(t, url);
    await told;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('clock');
  });
});

it("serves the agents' guide while the server is away [use.docs.guide-served]", async () => {
  const t = await testApp();
  const { url, close } = await t.serve();
  await close(100);
  const { client } = await bridge('modern', { COVIBE_BASE_URL: url });
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['covenant://guide']);
  const { contents } = await client.readResource({ uri: 'covenant://guide' });
  expect(contents).toEqual([{ uri: 'covenant://guide', mimeType: 'text/markdown', text: expect.stringContaining('covibe_task') }]);
  await expect(client.readResource({ uri: 'covenant://other' })).rejects.toThrow();
});

it('stores the last tool list in a separate file for each token; only the owner can read the file, and it contains no token', async () => {
  const t = await testApp();
  const { url, close } = await t.serve();
  const [alice, bob] = [await t.developer('alice'), await t.developer('bob')];
  const env = { COVIBE_BASE_URL: url, HOME: temporaryFolder() };
  await (await bridge('modern', { ...env, COVIBE_MCP_TOKEN: alice.token })).client.listTools();
  await close(100);
  expect(statSync(cached(env.HOME)).mode & 0o777).toBe(0o600);
  expect(cached(env.HOME) + readFileSync(cached(env.HOME), 'utf8')).not.toMatch(/cv_|127\.0\.0\.1/);

  const [hers, his] = await Promise.all([alice, bob].map(({ token }) => bridge('modern', { ...env, COVIBE_MCP_TOKEN: token })));
  await expect(his?.client.listTools()).rejects.toThrow('cannot be reached');
  for (const broken of ['', '{"tools":[{"name":"clock"}]}', 'null']) {
    writeFileSync(cached(env.HOME), broken);
    await expect(hers?.client.listTools()).rejects.toThrow('cannot be reached');
  }
});

function cached(home: string): string {
  const folder = join(home, '.covibe/tools');
  const [name, ...more] = readdirSync(folder);
  expect(more).toEqual([]);
  return join(folder, name as string);
}

/** Returns a promise that resolves when the client gets its first list_changed notification. Subscribes in the way that the client's MCP version requires. */
async function changeOf(client: Client, era: Era): Promise<{ told: Promise<void> }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
  if (era === 'modern') await client.listen({ toolsListChanged: true });
  return { told: promise };
}

/** Starts a new server at the same address as before. */
async function serveAgain(t: TestApp, url: string): Promise<void> {
  const server = await serve({ app: { ...t.app, config: { ...t.app.config, port: Number(new URL(url).port) } }, metrics: createMetrics() });
  onTestFinished(() => server.close(100));
}
