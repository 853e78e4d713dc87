import { expect, test } from 'vitest';
import { testClock } from '../../src/testing/clock.ts';
import { type WorkflowApp, workflowApp } from '../../src/testing/scenes/workflow.ts';
import { isAccessible } from './axe.ts';
import { live, openBrowser, sideways, signedIn } from './browser.ts';

openBrowser();

const HOSTILE = `<img src=x onerror=alert(1)> \u202Eabc ${'longword'.repeat(15)}`;

/** Opens the dashboard as Ana, who has operator rights, with a workflow that has completed, running, failed and waiting tasks. */
async function atWork(path: (workflow: string, ids: Record<string, string>) => string, options = {}, prepare?: (app: WorkflowApp) => Promise<unknown>) {
  const app = await workflowApp({ clock: testClock(Date.now() - 3_600_000) });
  const { workflow_id, ids } = await app.planned(
    ['build', { name: 'test', depends_on: ['build'] }, { name: 'deploy', depends_on: ['test', 'docs'] }, 'docs', { name: HOSTILE, depends_on: ['deploy'] }],
    { workflow: { name: 'Auth rework', max_parallel_tasks: 3 } },
  );
  await app.completed(ids.build as string);
  await prepare?.(app);
  app.clock.advance(Date.now() - app.clock.now());
  const held = await app.started(ids.test as string, app.ben);
  const docs = await app.started(ids.docs as string);
  await app.ok('task_update_status', { id: ids.docs, status: 'failed', error: 'The printer is on fire.', agent_id: docs.agent_id });
  const place = await signedIn(path(workflow_id, ids as Record<string, string>), options, app, 'ana');
  return { ...place, app, workflow_id, ids: ids as Record<string, string>, held };
}

test('counts running, failed and blocked tasks, links each count to exactly those tasks, updates live, and shows how to create a workflow', async () => {
  const app = await workflowApp({ clock: testClock(Date.now()) });
  const { page, errors, url } = await signedIn('/workflows', {}, app, 'ana');
  await page.getByText('covenant workflow create --name first --prompt "Fix login"').waitFor();
  await live(page);
  const { workflow_id, ids } = await app.planned(['build', { name: 'test', depends_on: ['build'] }], { workflow: { name: HOSTILE } });
  await app.started(ids.build as string);
  const row = page.getByRole('row').filter({ hasText: '<img src=x' });
  await row.getByText('0/2').waitFor();
  await row.getByText('in progress').waitFor();
  expect(await row.locator('img').count()).toBe(0);
  await isAccessible(page);
  await row.getByRole('link', { name: '1 blocked' }).click();
  await page.getByRole('cell', { name: 'test' }).first().waitFor();
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(`/workflows/${workflow_id}/list?status=blocked`);
  expect(await page.getByRole('table', { name: 'Tasks in plan order' }).getByRole('row').count()).toBe(2);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await page.goto(`${url}/workflows?repo=elsewhere`);
  await page.getByText('No workflow in elsewhere.').waitFor();
  expect(errors).toEqual([]);
});

test('shows the next tasks with reasons, claims and the graph, and opens a task by keyboard', async () => {
  const { page, errors, ids } = await atWork((id) => `/workflows/${id}`);
  const next = page.getByRole('region', { name: 'Next' });
  await next.getByText('Failed. Can be retried.').waitFor();
  await page.getByRole('region', { name: 'In progress' }).getByText('lease ends').waitFor();
  const graph = page.getByRole('region', { name: 'Graph' });
  await graph.getByRole('link', { name: /deploy.*blocked/ }).waitFor();
  expect(await graph.locator('.react-flow__edge').count()).toBeGreaterThanOrEqual(3);
  await graph.getByText('critical path, 3 tasks').waitFor();
  await isAccessible(page);
  // Use the keyboard to move from the graph into the panel and back.
  await graph.getByRole('link', { name: /deploy/ }).focus();
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog');
  await panel.getByText('Blocked by').waitFor();
  await panel.getByRole('region', { name: 'Dependencies', exact: true }).getByRole('link', { name: 'docs' }).waitFor();
  expect(new URL(page.url()).searchParams.get('task')).toBe(ids.deploy);
  await panel.getByRole('button', { name: '8,000 tokens' }).click();
  await panel.getByRole('table', { name: 'Tokens by section' }).getByText('55 %').waitFor();
  await panel.getByText('Complete: nothing was cut.').waitFor();
  await isAccessible(page);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('deploy');
  expect(errors).toEqual([]);
});

test('retries, releases, pauses, resumes, changes the parallel limit and abandons, each with its consequence and command', async () => {
  const { page, app, errors, workflow_id, ids, held } = await atWork((id, all) => `/workflows/${id}/list?task=${all.docs}`);
  const panel = page.getByRole('dialog').first();
  await panel.getByText('The printer is on fire.').first().waitFor();
  await panel.getByText(`covenant workflow retry ${ids.docs}`).waitFor();
  await panel.getByRole('button', { name: 'Retry', exact: true }).click();
  await page.getByText('Retried. Agents can claim the task again.').first().waitFor();
  expect(await app.task(ids.docs as string)).toMatchObject({ status: 'pending', error: null });
  await panel.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('region', { name: 'In progress' }).getByRole('link', { name: 'test' }).click();
  await page.getByRole('button', { name: 'Release…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Release this task?' });
  await dialog.getByText('1 task becomes claimable').waitFor();
  await dialog.getByText(`covenant workflow release ${ids.test}`).waitFor();
  await isAccessible(page);
  await dialog.getByRole('button', { name: 'Release', exact: true }).click();
  await page.getByRole('region', { name: 'In progress' }).getByText('No claimed tasks.').waitFor();
  expect(await app.task(ids.test as string)).toMatchObject({ status: 'pending', assigned_agent_id: null, fence: held.fence + 1 });
  // Wait, because the event may arrive before the answer that closes the dialog, and an open dialog would handle the key.
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused. No new tasks are handed out until you resume it.').waitFor();
  await page.getByRole('listitem').getByRole('button', { name: 'Resume' }).click();
  await page.getByText('No agent is working on it. 2 tasks ready to claim.').waitFor();

  await page.getByRole('button', { name: 'Parallel tasks: 3…' }).click();
  await page.getByRole('textbox', { name: /^Parallel tasks/ }).fill('7');
  await page.getByRole('button', { name: 'Set', exact: true }).click();
  await page.getByRole('button', { name: 'Parallel tasks: 7…' }).waitFor();

  await page.getByRole('button', { name: 'Abandon' }).click();
  const last = page.getByRole('dialog', { name: 'Abandon this workflow?' });
  await last.getByText('4 tasks will not be done').waitFor();
  expect(await last.getByRole('button', { name: 'Abandon', exact: true }).isDisabled()).toBe(true);
  await last.getByLabel('Type Auth rework to confirm').fill('Auth rework');
  await last.getByRole('button', { name: 'Abandon', exact: true }).click();
  await page.getByText('Abandoned. Its tasks keep their last status.').waitFor();
  expect(await app.ok('workflow_get', { id: workflow_id })).toMatchObject({ status: 'abandoned' });
  expect(errors).toEqual([]);
});

test('shows a lost and reclaimed task in the timeline as chart and table, and answers a question in the task panel', async () => {
  const lost = async (app: WorkflowApp): Promise<void> => {
    const [row] = await app.app.store.reader.selectFrom('workflow_tasks').select('id').where('name', '=', 'docs').execute();
    const agent = await app.agent(app.ben, { name: 'gemini' });
    await app.started(row?.id as string, app.ben, agent);
    app.clock.advance(91_000);
    // The next claim of a task makes the server notice that the lease has expired.
    const { agent_id } = await app.claimed(row?.id as string);
    await app.ok('task_release', { task_id: row?.id, agent_id });
  };
  const { page, app, errors, ids, held } = await atWork((id) => `/workflows/${id}/timeline`, { viewport: { width: 390, height: 800 } }, lost);
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByRole('link', { name: /docs: lost: lease expired/ }).waitFor();
  await timeline.getByRole('link', { name: /docs: failed, reclaimed/ }).waitFor();
  await timeline.getByText('⋯ idle time, folded').waitFor();
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await isAccessible(page);
  await timeline.getByRole('link', { name: 'Show idle time' }).click();
  await timeline.getByText('⋯ idle time, folded').waitFor({ state: 'detached' });
  await timeline.getByRole('link', { name: 'Show as a table' }).click();
  await timeline.getByRole('row').filter({ hasText: 'gemini' }).getByText('lost: lease expired').waitFor();

  await live(page);
  await app.ok('message_send', { sender_id: held.agent_id, recipient_id: 'human', message_type: 'query', body: 'Which port?', task_id: ids.test }, app.ben);
  await page.getByText('1 task waits for your answer.').waitFor();
  await page.getByRole('region', { name: 'In progress' }).getByRole('link', { name: 'test' }).click();
  const panel = page.getByRole('dialog');
  await panel.getByRole('textbox', { name: 'Your answer' }).fill('Take 8443.');
  await panel.getByRole('button', { name: 'Answer', exact: true }).click();
  await panel.getByText('Take 8443.').waitFor();
  expect(await app.task(ids.test as string)).toMatchObject({ status: 'in_progress', question_id: null });
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  expect(errors).toEqual([]);
});

test('draws 5,000 tasks by group with the failing group open in under 0.8 s of main thread time, and lists few rows in the DOM', async () => {
  const app = await workflowApp({ clock: testClock(Date.now()) });
  const tasks = Array.from({ length: 5_000 }, (_, at) => ({
    name: `Task ${at}`,
    sequence: Math.floor(at / 28) + 1,
    parallel_group: `group ${Math.floor(at / 28)}`,
    ...(at >= 28 && { depends_on: [`Task ${at - 28}`] }),
  }));
  const { workflow_id, ids } = await app.planned(tasks);
  const { agent_id } = await app.started(ids['Task 3'] as string);
  await app.ok('task_update_status', { id: ids['Task 3'], status: 'failed', error: 'no', agent_id });
  const { page, url } = await signedIn('/workflows', {}, app, 'ana');
  const session = await page.context().newCDPSession(page);
  // Measure the time of the thread, because it does not depend on what else the machine is doing.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(`${url}/workflows/${workflow_id}`);
  const graph = page.getByRole('region', { name: 'Graph' });
  await graph.getByText('5,000 tasks, folded by group into 206 nodes.').waitFor();
  await graph.getByRole('link', { name: /Task 3.*failed/ }).waitFor();
  const { metrics } = await session.send('Performance.getMetrics');
  expect(metrics.find(({ name }) => name === 'TaskDuration')?.value).toBeLessThan(0.8);
  expect(await graph.locator('.react-flow__node').count()).toBeLessThanOrEqual(400);
  await graph.getByRole('button', { name: /group 1/ }).click();
  await graph.getByRole('button', { name: 'Fold group 1' }).first().waitFor();
  expect(new URL(page.url()).search).toContain(String(ids['Task 28']));
  await page.goto(`${url}/workflows/${workflow_id}/list?text=Task%2049`);
  await page.getByText('111 tasks').waitFor();
  expect(await page.getByRole('row').count()).toBeLessThanOrEqual(80);
});
