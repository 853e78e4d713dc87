import { expect, test } from 'vitest';
import type { TestCaller } from '../../src/testing/app.ts';
import { testClock } from '../../src/testing/clock.ts';
import { type Body, workflowApp } from '../../src/testing/scenes/workflow.ts';
import { isAccessible } from './axe.ts';
import { focused, live, openBrowser, sideways, signedIn } from './browser.ts';

openBrowser();

const MINUTE = 60_000;
const HOSTILE = `<img src=x onerror=alert(1)>\u202Eevil ${'long'.repeat(400)}`;

test('shows messages live with unseen ones first, and lets a person answer by keyboard, send a reminder and broadcast', async () => {
  // The server's clock is behind the clock of the browser, so that the page shows messages as some minutes old.
  const clock = testClock(Date.now() - 10 * MINUTE);
  const t = await workflowApp({ clock });
  const codex = await t.developer('ben', 'codex');
  const coordinate = async (operation: string, args: object, caller: TestCaller): Promise<Body> =>
    (await t.tool('covibe_coordination', { operation, ...args }, caller)).body.data;
  const { page, errors } = await signedIn('/messages', {}, t, 'ana');
  await live(page);
  await page.getByText('No messages yet.').waitFor();
  await page.getByRole('button', { name: 'Copy covenant demo' }).waitFor();

  const mine = await coordinate('ask', { to: 'ana', message: 'Drop the legacy table?', due_in_minutes: 5 }, codex);
  await coordinate('announce', { message: HOSTILE }, codex);
  const theirs = await coordinate('ask', { to: 'codex@ben', message: 'Which port?' }, t.ana);
  clock.advance(10 * MINUTE);
  await coordinate('announce', { message: 'Main is green again.' }, codex);
  const worker = await t.agent(t.ben, { name: 'worker' });
  const pressing = page.getByRole('region', { name: 'Not delivered or overdue' });
  await pressing.getByRole('row', { name: /Drop the legacy table\? codex@ben ana ask sent .*; delivered not yet; .* overdue/ }).waitFor();
  await pressing.getByRole('row', { name: /Which port\? .* undelivered/ }).waitFor();
  await page.getByRole('region', { name: 'Threads' }).getByText('<img src=x onerror=alert(1)>[U+202E]evil').waitFor();
  expect(await page.locator('img[src=x]').count()).toBe(0);
  await expect.poll(() => page.title()).toBe('(2) Messages · Covenant');
  await isAccessible(page);

  await page.keyboard.press('j');
  await page.keyboard.press('j');
  expect(await focused(page)).toContain('Drop the legacy table?');
  await page.keyboard.press('Enter');
  const ask = page.getByRole('dialog', { name: 'Drop the legacy table?' });
  await ask.getByRole('list', { name: 'Receipts' }).getByText('overdue').waitFor();
  expect(new URL(page.url()).searchParams.get('message')).toBe(mine.ask_id);
  await isAccessible(page);
  await ask.getByLabel('Your answer').focus();
  await page.keyboard.type('Yes, it is empty.');
  await ask.getByText(`covenant messages answer ${mine.ask_id} 'Yes, it is empty.'`).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('Answered. The sender receives it when it next reads its messages.', { exact: true }).waitFor();
  await ask.getByText('answers codex@ben').waitFor();
  await page.keyboard.press('Escape');
  await ask.waitFor({ state: 'detached' });
  expect((await coordinate('list', { what: 'asks' }, codex)).asks_by_me).toMatchObject([{ answer: 'Yes, it is empty.' }]);

  await page.getByRole('link', { name: 'Which port?' }).click();
  const open = page.getByRole('dialog', { name: 'Which port?' });
  await open.getByRole('button', { name: 'Remind', exact: true }).click();
  await open.getByText('sent a reminder').waitFor();
  await expect.poll(() => open.getByRole('button', { name: 'Remind', exact: true }).isDisabled()).toBe(true);
  await open.getByText(/Possible again in 1[45] min/).waitFor();
  expect((await t.events({ kind: 'ask.reminded' })).map(({ subject }) => subject)).toEqual([theirs.ask_id]);
  await open.getByRole('button', { name: 'Close', exact: true }).click();

  await page.getByRole('button', { name: 'Broadcast', exact: true }).click();
  const broadcast = page.getByRole('dialog', { name: 'Broadcast' });
  await broadcast.getByText('worker', { exact: true }).waitFor();
  await broadcast.getByRole('textbox', { name: /^Message/ }).fill('Freeze at six.');
  await isAccessible(page);
  await broadcast.getByRole('button', { name: 'Send to 1 agent' }).click();
  await page.getByText('Sent to 1 agent.', { exact: true }).waitFor();
  expect((await t.ok('message_list', { agent_id: worker }, t.ben)).messages).toMatchObject([{ sender_id: 'human', body: 'Freeze at six.' }]);

  await page.keyboard.press('/');
  expect(await page.getByLabel('Kind').evaluate((field) => field === document.activeElement)).toBe(true);
  await page.getByLabel('Kind').selectOption('announcement');
  await page.getByRole('row', { name: /Main is green again/ }).waitFor();
  expect(new URL(page.url()).search).toBe('?kind=announcement');
  expect(await pressing.count()).toBe(0);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole('link', { name: /<img src=x/ }).click();
  await page
    .getByRole('dialog', { name: /<img src=x/ })
    .getByText('Conversation')
    .waitFor();
  expect(await sideways(page)).toBe(0);
  await isAccessible(page);
  expect(errors).toEqual([]);
});
