import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { testClock } from '../../src/testing/clock.ts';
import { teamApp } from '../../src/testing/scenes/team.ts';
import { focused, live, openBrowser, signedIn } from './browser.ts';

openBrowser();

async function atTasks(prepare: (page: Page) => Promise<unknown> = async () => {}) {
  const team = await teamApp({ clock: testClock(Date.now()) });
  await team.planned({ title: 'Write the manual' });
  const place = await signedIn('/', { permissions: ['clipboard-read', 'clipboard-write'] }, team, 'ana');
  await prepare(place.page);
  await place.page.goto(`${place.url}/tasks`);
  await live(place.page);
  await place.page.getByRole('link', { name: 'Write the manual' }).waitFor();
  return place;
}

test('closes a panel opened with Space on Escape and keeps the focus in the list', async () => {
  const { page } = await atTasks();
  await page.keyboard.press('j');
  await page.keyboard.press(' ');
  const panel = page.getByRole('dialog', { name: 'Write the manual' });
  await panel.waitFor();
  expect(await focused(page)).toBe('Write the manual');
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('Write the manual');
});

test('closes the dialog over a panel first, and then the panel, on Escape', async () => {
  const { page } = await atTasks();
  await page.getByRole('link', { name: 'Write the manual' }).click();
  const panel = page.getByRole('dialog', { name: 'Write the manual' });
  await panel.getByRole('button', { name: 'Cancel task' }).click();
  const question = page.getByRole('dialog', { name: 'Cancel this task?' });
  await question.waitFor();
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  expect(await panel.isVisible()).toBe(true);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
});

test('copies the id with y and confirms it, even without clipboard access on plain HTTP', async () => {
  const { page } = await atTasks((before) => before.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined })));
  await page.keyboard.press('j');
  await page.keyboard.press('y');
  await page
    .getByText(/^Copied task_\w+\.$/)
    .first()
    .waitFor();
  await page.keyboard.press('Control+k');
  const search = page.getByRole('combobox', { name: 'Search pages, ids, agents and actions' });
  await search.focus();
  await page.keyboard.press('Control+v');
  expect(await search.inputValue()).toMatch(/^task_\w+$/);
});

/** Checks that a live region outside of the button announces the copy exactly once. */
async function announcedOnce(page: Page): Promise<void> {
  const announced = page.locator('[role=status]:not(button *)').filter({ hasText: /copied/i });
  await announced.waitFor({ state: 'attached' });
  expect(await announced.count()).toBe(1);
}

test('announces a copy to screen readers', async () => {
  const { page, url } = await atTasks();
  await page.getByRole('link', { name: 'Write the manual' }).click();
  await page
    .getByRole('dialog', { name: 'Write the manual' })
    .getByRole('button', { name: /, copy task_/ })
    .click();
  await announcedOnce(page);
  await page.goto(`${url}/tasks/claims`);
  await page.getByRole('button', { name: 'Copy covenant connect claude-code' }).click();
  await announcedOnce(page);
});

test('disables an open dialog and the undo button of a toast while disconnected', { timeout: 60_000 }, async () => {
  const { page: asking, context, way } = await signedIn('/settings/tokens');
  await live(asking);
  await asking
    .getByRole('button', { name: /^Revoke / })
    .first()
    .click();
  const revoke = asking.getByRole('dialog').getByRole('button', { name: 'Revoke token' });
  await revoke.waitFor();

  const page = await context.newPage();
  await page.goto(`${way.url}/settings/limits`);
  await live(page);
  const field = page.getByRole('spinbutton').first();
  await field.fill(String(Number(await field.inputValue()) + 1));
  await field.press('Enter');
  const back = page.getByRole('button', { name: /^Back to / });
  await back.waitFor();
  // A toast does not disappear while the pointer is over it.
  await back.hover();

  await way.cut();
  for (const each of [asking, page]) await each.getByText('Disconnected').waitFor({ state: 'attached' });
  expect([await revoke.isDisabled(), await back.isDisabled()]).toEqual([true, true]);
  expect(await back.getAttribute('title')).toBe('Unavailable while the server cannot be reached.');
  await way.mend();
  for (const button of [revoke, back]) await expect.poll(() => button.isDisabled()).toBe(false);
});
