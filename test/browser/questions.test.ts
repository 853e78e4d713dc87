import { expect, test } from 'vitest';
import { testClock } from '../../src/testing/clock.ts';
import { workflowApp } from '../../src/testing/scenes/workflow.ts';
import { isAccessible } from './axe.ts';
import { live, openBrowser, sideways, signedIn } from './browser.ts';

openBrowser();

/** Opens the dashboard as Ana, while Ben's agent works on a task. */
async function anaAtNow() {
  const app = await workflowApp({ clock: testClock(Date.now()) });
  const { ids } = await app.planned(['Serve over HTTPS']);
  const task = ids['Serve over HTTPS'] as string;
  const codex = await app.developer('ben', 'codex');
  const { agent_id } = await app.started(task, codex);
  const place = await signedIn('/', {}, app, 'ana');
  await live(place.page);
  const ask = (args: object = {}) =>
    app.ok('message_send', { sender_id: agent_id, recipient_id: 'human', message_type: 'query', body: 'Which port?', task_id: task, ...args }, codex);
  const waiting = place.page.getByRole('region', { name: 'What waits on you' });
  return { ...place, app, codex, task, agent_id, ask, waiting, panel: place.page.getByRole('dialog') };
}

test('shows a question without a reload, answers it by keyboard, resumes its task and keeps the focus in the list', async () => {
  const { page, app, codex, task, agent_id, ask, waiting, panel, errors } = await anaAtNow();
  await page.getByText('Nothing waits on you.').waitFor();
  await ask({ subject: 'The port', body: 'Which port may I use?\nI would take 8443.', priority: 'high', expires_in_minutes: 600 });
  await app.tool('covibe_coordination', { operation: 'ask', to: 'ana', message: 'Drop the legacy table?' }, codex);
  await waiting.getByText('The port: Which port may I use?').waitFor({ timeout: 5_000 });
  for (const text of ['question', 'codex@ben', /^due in \d+ h$/]) await waiting.getByText(text).first().waitFor();
  await expect.poll(() => page.title(), { timeout: 10_000 }).toBe('(2) Now · Covenant');
  await page.getByRole('row', { name: /codex@ben.*waiting on you/ }).waitFor();

  // The ask is due first, so pressing n moves the focus to it. The second n moves the focus to the question.
  for (const key of ['n', 'n', 'Enter']) await page.keyboard.press(key);
  await panel.getByText('I would take 8443.').waitFor();
  await panel.getByText('Serve over HTTPS · Ship it').waitFor();
  expect(page.url()).toContain('?question=msg_');
  await isAccessible(page);
  while (!(await panel.getByRole('textbox', { name: 'Your answer' }).evaluate((field) => field === document.activeElement))) await page.keyboard.press('Tab');
  await page.keyboard.type('Take 8443.');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('Answered. The task continues.').first().waitFor();
  await panel.waitFor({ state: 'detached' });
  await expect.poll(() => waiting.getByRole('listitem').count(), { timeout: 10_000 }).toBe(1);
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? ''), { timeout: 10_000 })
    .toMatch(/^Answer: codex@ben Drop the legacy/);
  expect(await app.task(task)).toMatchObject({ status: 'in_progress', question_id: null });
  expect(await app.ok('message_list', { agent_id }, codex)).toMatchObject({ messages: [{ sender_id: 'human', body: 'Take 8443.' }] });

  await page.keyboard.press('Enter');
  await panel.getByRole('textbox', { name: 'Your answer' }).fill('Drop it.');
  await panel.getByRole('button', { name: 'Answer', exact: true }).click();
  await page.getByText('Nothing waits on you.').waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? ''), { timeout: 10_000 }).toBe('What waits on you');
  expect((await app.events({ kind: 'ask.answered' })).length).toBe(1);
  expect(errors).toEqual([]);
});

test('keeps typed text while the page updates, reports that another person answered first, and keeps the layout at 390 px', async () => {
  const { page, app, ask, waiting, panel, url } = await anaAtNow();
  const { id } = await ask({ subject: '<img src=x onerror=alert(1)>', body: `${'a-very-long-word-'.repeat(40)}\u202Eabc` });
  await page.setViewportSize({ width: 390, height: 800 });
  await waiting.getByText('<img src=x').waitFor();
  expect(await waiting.locator('img').count()).toBe(0);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await page.goto(`${url}/?question=${id}`);
  const answer = panel.getByRole('textbox', { name: 'Your answer' });
  await answer.fill('Take 84');
  await ask({ task_id: undefined, body: 'And which host?' });
  await expect.poll(() => page.title(), { timeout: 10_000 }).toBe('(2) Now · Covenant');
  expect(await answer.inputValue()).toBe('Take 84');
  expect(await panel.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
  // Block the page's reads, so that the page does not show the other person's answer first.
  await page.route('**/api/actions/questions.answer', async (route) => {
    await app.done('questions.answer', { question_id: id, answer: 'Take 80.' });
    await route.continue();
  });
  await page.route('**/api/actions/waiting.list', (route) => route.abort());
  await panel.getByRole('button', { name: 'Answer', exact: true }).click();
  await panel.getByText('QUESTION_CLOSED').waitFor();
  await page.unroute('**/api/actions/waiting.list');
  await page.goto(`${url}/?question=${id}`);
  await panel.getByText('was settled, has expired, or does not wait on you.').waitFor();
});
