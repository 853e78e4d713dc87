import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { testApp } from '../../src/testing/app.ts';
import { testClock } from '../../src/testing/clock.ts';
import { teamApp } from '../../src/testing/scenes/team.ts';
import { live, openBrowser, signedIn } from './browser.ts';
import { seeded } from './seeded.ts';

openBrowser();

/** Delays all answers of an action. */
const slowDown = (page: Page, action: string, ms: number) =>
  page.route(`**/api/actions/${action}`, async (route) => {
    await sleep(ms);
    await route.continue().catch(() => {});
  });

test('finishes a read that takes longer than the time between two events, and shows the latest data', async () => {
  const team = await teamApp({ clock: testClock(Date.now()) });
  await team.planned({ title: 'Write the manual' });
  const { page } = await signedIn('/tasks', {}, team, 'ana');
  await live(page);
  await page.getByRole('row', { name: /Write the manual/ }).waitFor();
  await slowDown(page, 'tasks.list', 1_500);
  await team.planned({ title: 'Draw a map' });
  const pouring = new AbortController();
  const poured = (async () => {
    for (let count = 0; !pouring.signal.aborted; count++) {
      await team.planned({ title: `Chore number ${count}`, scope: `Unlike any other: ${'abcdefghij'[count % 10]} ${count}` });
      await sleep(300);
    }
  })();
  try {
    await page.getByRole('row', { name: /Draw a map/ }).waitFor({ timeout: 8_000 });
  } finally {
    pouring.abort();
    await poured;
  }
  await team.planned({ title: 'The very last one' });
  await page.getByRole('row', { name: /The very last one/ }).waitFor();
});

test('reloads at most six pages of a list after an event', async () => {
  const app = await testApp({ clock: testClock(Date.now()) });
  await app.developer('mira');
  for (let count = 0; count < 720; count++) await app.done('capabilities.grant', { action: `tool.call.tool_${count}`, developer: 'mira' });
  const { page } = await signedIn('/tools/grants', {}, app, 'mira');
  await live(page);
  const more = page.getByRole('button', { name: 'Show older grants' });
  const table = page.getByRole('table', { name: 'Grants, newest first' });
  for (let pages = 2; pages <= 7; pages++) {
    const before = await table.getAttribute('aria-rowcount');
    // Use the keyboard, because the button moves while rows are added.
    await more.press('Enter');
    await expect.poll(() => table.getAttribute('aria-rowcount')).not.toBe(before);
  }
  const reads: string[] = [];
  page.on('request', (request) => request.url().endsWith('/api/actions/capabilities.list') && reads.push(request.url()));
  await app.done('capabilities.grant', { action: 'tool.call.the_last', developer: 'mira' });
  await sleep(3_000);
  expect(reads.length).toBeGreaterThan(0);
  expect(reads.length).toBeLessThanOrEqual(6);
  await page.getByRole('button', { name: 'Back to the first grants' }).click();
  await page.getByRole('row', { name: /tool.call.the_last/ }).waitFor();
});

test('opens the panel of a waiting item immediately and fills it when its content is loaded', async () => {
  const { app, ids } = await seeded();
  const { page, url } = await signedIn('/', {}, app, 'ana');
  let answered = false;
  page.on('response', (response) => {
    answered ||= response.url().endsWith('/api/actions/overlap.show');
  });
  await slowDown(page, 'overlap.show', 1_500);
  await page.goto(`${url}/?overlap=${ids.warning}`);
  const panel = page.getByRole('dialog');
  await page.getByRole('dialog', { name: 'What waits on you' }).waitFor();
  await page.locator('[data-waiting]').first().waitFor();
  expect(await panel.isVisible()).toBe(true);
  expect(answered).toBe(false);
  // When the content arrives, the focus must stay where the person has moved it.
  const close = panel.getByRole('button', { name: 'Close' });
  await close.focus();
  await panel.getByRole('link', { name: 'Compare side by side' }).waitFor();
  expect(answered).toBe(true);
  expect(await close.evaluate((element) => element === document.activeElement)).toBe(true);
});
