import { expect, test } from 'vitest';
import { workflowApp } from '../src/testing/scenes/workflow.ts';
import { filesRunBy } from '../src/testing/walk.ts';

test('the walk of task_claim', async () => {
  const app = await workflowApp();
  const { url } = await app.serve();
  const { ids } = await app.planned(['one', 'two', 'three']);
  const agent_id = await app.agent();
  const claim = async (task_id: string | undefined) => {
    const response = await fetch(`${url}/api/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${app.ana.token}` },
      body: JSON.stringify({ tool: 'task_claim', arguments: { task_id, agent_id } }),
    });
    return await response.json();
  };
  for (const name of ['one', 'two']) expect(await claim(ids[name])).toMatchObject({ success: true });
  const files = await filesRunBy(() => claim(ids.three));
  console.log(files.length, files.join('\n'));
});
