import { expect, test } from 'vitest';
import { testClock } from '../../src/testing/clock.ts';
import { workflowApp } from '../../src/testing/workflow.ts';
import { live, openBrowser, sideways, signedIn } from './house.ts';

openBrowser();

/** Ana at the dashboard, with Ben's agent at work on a task. */
async function anaAtNow() {
  const app = await workflowApp({ clock: testClock(Date.now()) });
  const { ids } = await app.planned(['Serve over HTTPS']);
  const task = ids['Serve over HTTPS'] as string;
  const { agent_id } = await app.started(task, app.ben);
  const place = await signedIn('/', {}, app, 'ana');
  await live(place.page);
  const ask = (args: object = {}) =>
    app.ok('message_send', { sender_id: agent_id, recipient_id: 'human', message_type: 'query', body: 'Which port?', task_id: task, ...args }, app.ben);
  return { ...place, app, task, agent_id, ask, region: place.page.getByRole('region', { name: 'Questions for you' }) };
}

test('a question of an agent shows without a reload, is answered in the page, and its task goes on', async () => {
  const { page, app, task, agent_id, ask, region, errors } = await anaAtNow();
  await page.getByText('Nothing waits on you.').waitFor();
  expect(await region.count()).toBe(0);
  await ask({ subject: 'The port', body: 'Which port may I use?\nI would take 8443.', priority: 'high', expires_in_minutes: 600 });
  await region.getByText('Which port may I use?').waitFor({ timeout: 5_000 });
  for (const text of ['The port', 'high', 'worker', 'Serve over HTTPS · Ship it', '1 open question', /until .*20\d\d/])
    await region.getByText(text).first().waitFor();
  await page.getByText('Nothing else waits on you.').waitFor();
  await expect.poll(() => page.title()).toBe('(1) Now · Covenant');
  const button = region.getByRole('button', { name: 'Answer' });
  expect(await button.isDisabled()).toBe(true);
  await region.getByLabel('Your answer').fill('Take 8443.');
  await button.click();
  await region.getByText('Answered. The task goes on.').waitFor();
  expect(await region.getByRole('listitem').count()).toBe(0);
  expect(await app.task(task)).toMatchObject({ status: 'in_progress', question_id: null });
  expect(await app.ok('message_list', { agent_id }, app.ben)).toMatchObject({ messages: [{ sender_id: 'human', body: 'Take 8443.' }] });
  expect(errors).toEqual([]);
});

test('what is typed stays while other news comes; a question that somebody else answered says so', async () => {
  const { page, app, ask, region } = await anaAtNow();
  const { id } = await ask();
  const answer = region.getByLabel('Your answer').first();
  await answer.fill('Take 84');
  await ask({ task_id: undefined, body: 'And which host?' });
  await region.getByText('2 open questions').waitFor();
  expect(await answer.inputValue()).toBe('Take 84');
  // The page is held up, so that it does not hear of the other's answer first.
  await page.route('**/api/actions/questions.answer', async (route) => {
    await app.done('questions.answer', { question_id: id, answer: 'Take 80.' });
    await route.continue();
  });
  await page.route('**/api/actions/questions.list', (route) => route.abort());
  await region.getByRole('button', { name: 'Answer' }).first().click();
  await region.getByText('QUESTION_CLOSED').waitFor();
});

test('what an agent asks is text, whatever it looks like, and breaks no layout at 390 px', async () => {
  const { page, ask, region } = await anaAtNow();
  await page.setViewportSize({ width: 390, height: 800 });
  await ask({ subject: '<img src=x onerror=alert(1)>', body: `${'a-very-long-word-'.repeat(40)}\u202Eabc`, task_id: undefined });
  await region.getByText('<img src=x').waitFor();
  expect(await region.locator('img').count()).toBe(0);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
});
