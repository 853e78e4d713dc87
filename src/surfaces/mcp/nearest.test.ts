import { expect, test } from 'vitest';
import { servedApp } from '../../testing/app.ts';
import { connected } from '../../testing/mcp-client.ts';

test('suggests the nearest tool that the caller may list [use.error.nearest]', async () => {
  const { url, developer, tool, done } = await servedApp();
  const ana = await developer('ana');
  const nextOf = async (name: string) => (await tool(name, {}, ana)).body;
  expect(await nextOf('covibe_tasks')).toMatchObject({
    data: { code: 'UNKNOWN_TOOL', nearest: 'covibe_task' },
    feedback: { required_action: expect.stringMatching(/^Did you mean covibe_task\? If not: List the tools /) },
  });
  // Neither the denial nor the suggestion reveals whether the tool exists.
  expect(await nextOf('covib_task')).toMatchObject({
    data: { code: 'CAPABILITY_DENIED', nearest: 'covibe_task' },
    feedback: { required_action: expect.stringMatching(/^Did you mean covibe_task\? If not: Ask the operator to run `covenant capabilities grant /) },
  });
  // Ana may not list the review tools until she has the grant.
  expect((await tool('request_reviews', {}, ana)).body.data).not.toHaveProperty('nearest');
  await done('capabilities.grant', { action: 'toolset.review', token: ana.tokenId });
  expect((await tool('request_reviews', {}, ana)).body).toMatchObject({ data: { nearest: 'request_review' } });
  // Suggestions contain only tools that are served on the called path.
  const client = await connected(`${url}/mcp/team`, ana.token);
  const { structuredContent } = await client.callTool({ name: 'request_reviews', arguments: {} });
  expect(structuredContent).not.toHaveProperty('data.nearest');
});

test('suggests nothing for a tool that exists, or for a name that is similar to no tool [use.error.nearest]', async () => {
  const { developer, tool } = await servedApp();
  const ana = await developer('ana');
  for (const name of ['request_review', 'deploy_everything_now']) expect((await tool(name, {}, ana)).body.data).not.toHaveProperty('nearest');
});

test('suggests the nearest toolset at a path that does not exist [use.error.nearest]', async () => {
  const { url, developer } = await servedApp();
  const { token } = await developer('ana');
  const at = async (path: string) => {
    const response = await fetch(`${url}/mcp/${path}`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' });
    expect(response.status).toBe(404);
    return await response.json();
  };
  expect(await at('teams')).toMatchObject({
    message: 'There is no toolset "teams".',
    data: { code: 'NOT_FOUND', nearest: '/mcp/team' },
    feedback: { required_action: expect.stringMatching(/^Connect to \/mcp\/team\. Other paths: /) },
  });
  expect(await at('tema+gateways')).toMatchObject({ data: { nearest: '/mcp/team+gateway' } });
  // Ana has no grant for a review tool.
  for (const path of ['reviews', 'everything', 'team+']) expect((await at(path)).data).not.toHaveProperty('nearest');
});
