import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport, type StdioServerParameters } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { type TestApp, testApp } from '../../src/testing/app.ts';
import { temporaryFolder } from '../../src/testing/database.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

const ERAS: [name: string, options: ClientOptions][] = [
  ['legacy', { versionNegotiation: { mode: 'legacy' } }],
  ['modern', { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
];

describe.each(ERAS)('for a %s client', (_, options) => {
  it('[transport.bridge.npm-exec] npm exec -- covibe-mcp carries calls from a repository that has the package', async () => {
    const t = await testApp();
    await expectToCarryCalls(t, options, { command: 'npm', args: ['exec', '--offline', '--', 'covibe-mcp'], cwd: repositoryWithThePackage() });
  });

  it("[transport.bridge.repo-script] npm run mcp:stdio carries calls in the product's own repository", async () => {
    const t = await testApp();
    await expectToCarryCalls(t, options, { command: 'npm', args: ['run', 'mcp:stdio'], cwd: PACKAGE_ROOT });
  });
});

async function expectToCarryCalls(t: TestApp, options: ClientOptions, program: StdioServerParameters): Promise<void> {
  const { url } = await t.serve();
  const alice = await t.developer('alice');
  const env = { PATH: process.env.PATH ?? '', HOME: temporaryFolder(), COVIBE_BASE_URL: url, COVIBE_MCP_TOKEN: alice.token };
  const client = new Client({ name: 'tester', version: '1.0.0' }, options);
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ ...program, env, stderr: 'ignore' }));
  expect(client.getServerVersion()).toMatchObject({ name: 'covenant', version: manifest.version });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('clock');
  expect(await client.callTool({ name: 'clock' })).toMatchObject({ isError: false, structuredContent: { epoch_ms: t.clock.now() } });
  expect((await t.events({ category: 'usage', kind: 'clock' })).map(({ payload }) => payload.token_id)).toEqual([alice.tokenId]);
}

/** What `npm install covenant` leaves behind: the package, and its bins by the names in its manifest. */
function repositoryWithThePackage(): string {
  const repository = temporaryFolder();
  writeFileSync(join(repository, 'package.json'), '{ "name": "customer", "private": true }');
  const bins = join(repository, 'node_modules', '.bin');
  mkdirSync(bins, { recursive: true });
  symlinkSync(PACKAGE_ROOT, join(dirname(bins), manifest.name));
  for (const [name, path] of Object.entries(manifest.bin)) symlinkSync(join('..', manifest.name, path), join(bins, name));
  return repository;
}
