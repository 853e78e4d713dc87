import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { covenant, direct, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';
import { live, openBrowser, openLink, tab } from './browser.ts';

openBrowser();

const bar = (page: Page) => page.getByRole('alert').filter({ hasText: 'Disconnected' });

test('reports a stopped server within 6.5 seconds, disables actions, and misses or repeats no event after the restart', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  const { json } = await covenant(at, 'tokens', 'create', '--developer=mira', '--agent=codex', '--json');
  const call = (url: string) => direct(url, String(json.token), 'clock');
  const calls = (page: Page) => page.getByRole('row', { name: /usage clock codex@mira/ });
  const { page, context } = await tab();
  await openLink(page, server.signinUrl);
  await page.goto(`${server.url}/activity`);
  const other = await context.newPage();
  await other.goto(`${server.url}/tasks`);
  const plan = other.getByRole('button', { name: 'Plan work' });
  for (const each of [page, other]) await live(each);
  for (let count = 0; count < 3; count++) await call(server.url);
  await calls(page).nth(2).waitFor();

  const stopped = Date.now();
  await server.stop();
  await Promise.all([page, other].map((each) => bar(each).waitFor({ timeout: 7_000 })));
  expect(Date.now() - stopped).toBeLessThan(6_500);
  expect([await plan.isDisabled(), await plan.getAttribute('title')]).toEqual([true, 'Unavailable while the server cannot be reached.']);

  // The command appends directly to the store while the server is stopped.
  await covenant(at, 'tools', 'call', 'clock');
  const again = await startProgram(at, new URL(server.url).port);
  for (let count = 0; count < 3; count++) await call(again.url);
  await Promise.all([page, other].map((each) => bar(each).waitFor({ state: 'detached' })));
  await calls(page).nth(5).waitFor();
  expect(await plan.isDisabled()).toBe(false);
  const shown = await page.locator('tr[data-row]').evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset.id)));
  expect(shown).toEqual(shown.map((_, index) => shown.length - index));
});
