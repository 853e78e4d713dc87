import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { TestApp, TestCaller } from '../src/testing/app.ts';
import { teamApp } from '../src/testing/scenes/team.ts';
import { workflowApp } from '../src/testing/scenes/workflow.ts';
import { filesRunByEach } from '../src/testing/walk.ts';

const ARCHITECTURE = readFileSync(fileURLToPath(new URL('../ARCHITECTURE.md', import.meta.url)), 'utf8');

/** Returns the files that ARCHITECTURE.md lists for a call. They are in a block that begins with the name of the call. */
function listed(call: string): string[] {
  const [, block = ''] = new RegExp(`^\`\`\`walk ${call}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(ARCHITECTURE) ?? [];
  return block
    .split('\n')
    .flatMap((line) => {
      const [folder = '', files = ''] = line.split(/:\s+/);
      return files
        .split(/\s+/)
        .filter(Boolean)
        .map((file) => `src/${folder.trim()}/${file}.ts`);
    })
    .sort();
}

async function caller(app: TestApp, { token }: TestCaller) {
  const { url } = await app.serve();
  return async (tool: string, args: object) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/api/mcp`, { method: 'POST', headers, body: JSON.stringify({ tool, arguments: args }) });
    return (await response.json()) as Record<string, unknown>;
  };
}

test('starting a task runs code of exactly the files that ARCHITECTURE.md lists', async () => {
  const app = await teamApp({ logLevel: 'info' });
  const call = await caller(app, app.ana);
  let started = 0;
  const start = async (title: string) => {
    const words = { title, task_type: 'feature', target_files: [`src/${started++}.ts`] };
    await call('covibe_task', { operation: 'check', ...words });
    return () => call('covibe_task', { operation: 'start', ...words });
  };
  // Make two calls first, because code that runs only the first time is not part of the list.
  for (const title of ['Translate the settings page', 'Retry failed uploads']) expect(await (await start(title))()).toMatchObject({ status: 'ok' });
  const next = [await start('Draw the chart of costs'), await start('Send the invoice twice a year'), await start('Rotate the signing keys')];
  const files = await filesRunByEach(next);
  expect(files).toEqual(listed('covibe_task start'));
  expect(files.length).toBeLessThanOrEqual(30);
});

test('claiming a step runs code of exactly the files that ARCHITECTURE.md lists', async () => {
  const app = await workflowApp({ logLevel: 'info' });
  const call = await caller(app, app.ana);
  const { ids } = await app.planned(['one', 'two', 'three', 'four', 'five']);
  const agent_id = await app.agent();
  const claim = (name: string) => call('task_claim', { task_id: ids[name], agent_id });
  for (const name of ['one', 'two']) expect(await claim(name)).toMatchObject({ success: true });
  const files = await filesRunByEach(['three', 'four', 'five'].map((name) => () => claim(name)));
  expect(files).toEqual(listed('task_claim'));
  expect(files.length).toBeLessThanOrEqual(25);
});
