import { expect, test } from 'vitest';
import { teamApp } from '../src/testing/scenes/team.ts';
import { filesRunBy } from '../src/testing/walk.ts';

test('the walk of covibe_task start', async () => {
  const app = await teamApp();
  const { url } = await app.serve();
  const post = async (args: object) => {
    const response = await fetch(`${url}/api/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${app.ana.token}` },
      body: JSON.stringify({ tool: 'covibe_task', arguments: args }),
    });
    return (await response.json()) as { status: string };
  };
  const words = (title: string) => ({ title, task_type: 'feature', target_files: ['src/a.ts'] });
  for (const title of ['Translate the settings page', 'Retry failed uploads']) {
    await post({ operation: 'check', ...words(title) });
    expect(await post({ operation: 'start', ...words(title) })).toMatchObject({ status: 'ok' });
  }
  await post({ operation: 'check', ...words('Draw the chart of costs') });
  const files = await filesRunBy(() => post({ operation: 'start', ...words('Draw the chart of costs') }));
  console.log(files.length, files.join('\n'));
});
