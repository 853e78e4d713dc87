import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { testClock } from '../../src/testing/clock.ts';
import { teamApp } from '../../src/testing/scenes/team.ts';
import { focused, live, openBrowser, signedIn } from './house.ts';

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

test('a panel that Space opened is closed by Escape, while the focus stays in the list', async () => {
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

test('Escape closes the dialog over a panel, and then the panel', async () => {
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

test('the key y copies the id and says so, also where the page has no clipboard, as on plain HTTP', async () => {
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

test('that something was copied is told to a screen reader', async () => {
  const { page } = await atTasks();
  await page.getByRole('link', { name: 'Write the manual' }).click();
  const id = page.getByRole('dialog', { name: 'Write the manual' }).getByRole('button', { name: /, copies task_/ });
  await id.click();
  // The contents of a button are its name, and no live region.
  const announced = page.locator('[role=status]:not(button *)').filter({ hasText: 'copied' });
  await announced.waitFor({ state: 'attached' });
  expect(await announced.count()).toBe(1);
});

test('a question that is open when the connection is lost cannot be answered until it is back', { timeout: 60_000 }, async () => {
  const { page, way } = await signedIn('/settings/tokens');
  await live(page);
  await page
    .getByRole('button', { name: /^Revoke / })
    .first()
    .click();
  const revoke = page.getByRole('dialog').getByRole('button', { name: 'Revoke token' });
  await revoke.waitFor();
  await way.cut();
  await page.getByText('Disconnected').waitFor({ state: 'attached' });
  expect(await revoke.isDisabled()).toBe(true);
  await way.mend();
  await expect.poll(() => revoke.isDisabled()).toBe(false);
});
