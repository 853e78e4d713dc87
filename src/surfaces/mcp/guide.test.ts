import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { servedApp } from '../../testing/app.ts';
import { connected, ERAS } from '../../testing/mcp-client.ts';
import { PACKAGE_ROOT } from '../../version.ts';
import { PUBLISHED_TOOLSETS } from './toolsets.ts';

const TEXT = readFileSync(join(PACKAGE_ROOT, 'docs/agents.md'), 'utf8');

test.each(ERAS)("serves the agents' guide as a resource on every path to a %s client [use.docs.guide-served]", async (era) => {
  const { url, operator, developer } = await servedApp();
  const ana = await developer('ana');
  const paths = ['', '/all', ...PUBLISHED_TOOLSETS.map((name) => `/${name}`)];
  for (const [caller, path] of [...paths.map((each) => [ana, each] as const), [operator, ''] as const]) {
    const client = await connected(`${url}/mcp${path}`, caller.token, era);
    expect([path, (await client.listResources()).resources]).toEqual([
      path,
      [{ uri: 'covenant://guide', name: "Agents' guide", mimeType: 'text/markdown', description: expect.any(String) }],
    ]);
    expect((await client.readResource({ uri: 'covenant://guide' })).contents).toEqual([{ uri: 'covenant://guide', mimeType: 'text/markdown', text: TEXT }]);
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
    await expect(client.readResource({ uri: 'covenant://other' })).rejects.toThrow();
  }
});
