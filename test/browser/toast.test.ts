import { test } from 'vitest';
import { testClock } from '../../src/testing/clock.ts';
import { workflowApp } from '../../src/testing/scenes/workflow.ts';
import { openBrowser, signedIn } from './browser.ts';

openBrowser();

test('shows a toast over a full-screen panel, accepts clicks on it, and keeps it after the panel closes', async () => {
  const app = await workflowApp({ clock: testClock(Date.now()) });
  const { workflow_id, ids } = await app.planned(['build']);
  const fail = async () => {
    const { agent_id } = await app.started(ids.build as string);
    await app.ok('task_update_status', { id: ids.build, status: 'failed', error: 'no', agent_id });
  };
  await fail();
  const { page } = await signedIn(`/workflows/${workflow_id}?task=${ids.build}`, { viewport: { width: 390, height: 800 } }, app, 'ana');
  const panel = page.getByRole('dialog');
  const retry = panel.getByRole('button', { name: 'Retry', exact: true });
  const toast = page.getByRole('listitem').filter({ hasText: 'Agents can claim the task again.' });
  await retry.click();
  await toast.getByRole('button', { name: 'Close' }).click();
  await toast.waitFor({ state: 'detached' });

  await fail();
  await retry.click();
  await toast.waitFor();
  await panel.getByRole('button', { name: 'Close' }).first().click();
  await panel.waitFor({ state: 'detached' });
  // When the panel closes, the toast moves to the page. Radix renders it there a moment later.
  await toast.waitFor();
  await toast.getByRole('button', { name: 'Close' }).click();
  await toast.waitFor({ state: 'detached' });
});
