import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type TestApp, testApp } from '../../src/testing/app.ts';
import { isAccessible } from './axe.ts';
import { focused, live, openBrowser, sideways, signedIn } from './browser.ts';

openBrowser();

const events = (page: Page) => page.getByRole('table', { name: 'Events, newest first' });
const rows = (page: Page) => events(page).locator('tbody tr[data-row]');

async function append(t: TestApp, kinds: readonly string[], more: object = {}): Promise<void> {
  await t.app.store.append(
    t.operator.principal.workspace,
    kinds.map((kind) => ({ category: 'work' as const, kind, actor: 'operator', ...more })),
  );
}

test('shows rows of 10,000 events within a second, keeps at most 80 in the DOM, loads older rows on scroll, holds new rows back while scrolled, and resumes by key', async () => {
  const t = await testApp();
  for (let part = 0; part < 10; part++)
    await append(
      t,
      Array.from({ length: 1_000 }, (_, index) => `event.${part}.${index}`),
    );
  const { page, errors } = await signedIn('/', {}, t);
  await live(page);
  // The best of three visits counts, because other tests use the machine at the same time.
  const took: number[] = [];
  for (let visit = 0; visit < 3; visit++) {
    const begun = Date.now();
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await rows(page).first().waitFor();
    took.push(Date.now() - begun);
    if (visit < 2) await page.goBack();
  }
  expect(Math.min(...took)).toBeLessThan(1_000);
  expect(await rows(page).count()).toBeLessThanOrEqual(80);

  const oldest = async () => Number(await rows(page).last().getAttribute('data-id'));
  const end = await oldest();
  for (let turn = 0; turn < 6; turn++) {
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.waitForTimeout(60);
  }
  await expect.poll(oldest).toBeLessThan(end - 1_000);
  expect(await rows(page).count()).toBeLessThanOrEqual(80);

  await append(t, ['later.1', 'later.2']);
  await page.getByRole('button', { name: 'Paused · 2 new · Resume' }).waitFor();
  await page.keyboard.press('.');
  await events(page).getByText('later.2', { exact: true }).waitFor();
  expect(await page.getByText(/^Paused/).count()).toBe(0);
  expect(errors).toEqual([]);
});

test('stores filters in the address, searches the whole journal, adds matching events live, and shows every field of an event in the panel', async () => {
  const t = await testApp();
  const agent = await t.developer('mira', 'codex');
  await t.tool('clock', {}, agent);
  await t.tool('echo', {}, agent);
  await append(t, ['needle.old'], { payload: { about: 'Hay "stack"' } });
  await append(
    t,
    Array.from({ length: 400 }, () => 'hay'),
  );
  const { page, url, errors } = await signedIn('/activity', {}, t);
  await live(page);
  // The chart contains a select element too, but the / key must move the focus to the filter.
  await page.getByRole('combobox', { name: 'Period' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('hay "st');
  await page.waitForURL(/text=/);
  await rows(page).filter({ hasText: 'needle.old' }).waitFor();
  expect(await rows(page).count()).toBe(1);
  await append(t, ['needle.new'], { payload: { note: 'more hay "stacks"' } });
  await rows(page).filter({ hasText: 'needle.new' }).waitFor();
  expect(await rows(page).count()).toBe(2);
  await page.getByRole('searchbox', { name: 'Text' }).fill('no such words');
  await page.getByText('No event matches the filter.').waitFor();
  await page.getByRole('button', { name: 'Clear filter' }).click();

  await page.getByRole('searchbox', { name: 'Actor' }).fill('codex@mira');
  await page.getByLabel('Outcome').selectOption('denied');
  await page.waitForURL(/actor=.*outcome=denied|outcome=denied.*actor=/);
  await page.reload();
  const refused = rows(page).filter({ hasText: 'echo' });
  await refused.first().waitFor();
  expect(await page.getByRole('searchbox', { name: 'Actor' }).inputValue()).toBe('codex@mira');
  expect(await refused.first().getByRole('link', { name: 'codex@mira' }).getAttribute('href')).toBe(`/agents/codex%40${agent.principal.developerId}`);
  await page.getByText('Command line').click();
  await page.getByText('covenant audit recent --actor=codex@mira --outcome=denied').waitFor();

  const usage = (await t.events({ category: 'usage', kind: 'echo' }))[0];
  await page.getByRole('link', { name: `Event ${usage?.seq}`, exact: true }).focus();
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog', { name: 'echo' });
  await panel.getByRole('article', { name: 'Refused: echo' }).getByText('No grant').waitFor();
  await panel.getByText(String(usage?.hash)).waitFor();
  const before = (await t.events()).find(({ seq }) => seq === Number(usage?.seq) - 1);
  await panel.getByText(String(before?.hash)).waitFor();
  await panel.getByText('matches the previous event').waitFor();
  await panel.getByText('"outcome": "denied"').waitFor();
  expect(new URL(page.url()).searchParams.get('event')).toBe(String(usage?.seq));
  await isAccessible(page);
  await panel.getByRole('link', { name: 'Previous' }).click();
  await page.getByRole('dialog', { name: String(before?.kind) }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('event')).toBeNull();

  await page.getByRole('button', { name: 'Export' }).click();
  const download = page.waitForEvent('download');
  await isAccessible(page);
  await page.getByRole('dialog', { name: 'Export events' }).getByRole('button', { name: 'Download' }).click();
  const file = await (await download).createReadStream();
  const lines = (await file.toArray()).join('').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).payload.outcome ?? JSON.parse(line).payload.passed)).toEqual([false, 'denied']);

  await page.goto(`${url}/activity?event=1`);
  await page.getByRole('dialog', { name: 'workspace.created' }).waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await sideways(page)).toBe(0);
  expect(errors).toEqual([]);
});

test('links the objects that an event names, and shows text of agents without interpreting it or breaking the layout', async () => {
  const t = await testApp();
  const agent = await t.developer('mira', 'codex');
  const hostile = `<img src=x onerror="document.title='broken'">\u202E${'long'.repeat(2_000)} 🦉\u0007`;
  const { task_id } = (await t.tool('covibe_task', { operation: 'plan', title: 'Mend <b>it</b>', task_type: 'bug' }, agent)).reply.data as { task_id: string };
  await append(t, [hostile], { actor: hostile, subject: hostile, session: hostile, payload: { outcome: hostile.slice(0, 900), about: task_id } });
  const last = (await t.events()).length;
  const { page, errors } = await signedIn('/activity', { colorScheme: 'dark' }, t);
  await page.getByRole('link', { name: `Event ${last}`, exact: true }).click();
  const panel = page.getByRole('dialog', { name: `Event ${last}` });
  const named = panel.getByRole('region', { name: 'Related objects' }).getByRole('link', { name: 'Mend <b>it</b>' });
  expect(await named.getAttribute('href')).toBe(`/tasks?task=${task_id}`);
  expect(await page.locator('img[src=x]').count()).toBe(0);
  await isAccessible(page);
  for (const width of [1440, 768, 360]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await sideways(page), String(width)).toBeLessThanOrEqual(0);
  }
  expect(await page.title()).toBe('Activity · Covenant');
  expect(errors).toEqual([]);
});

test('verifies the whole chain, verifies it again with the stored anchor, and reports a changed event', async () => {
  const t = await testApp();
  await append(
    t,
    Array.from({ length: 50 }, (_, index) => `event.${index}`),
  );
  const { page, url, errors } = await signedIn('/activity', {}, t);
  await live(page);
  await page.getByRole('link', { name: 'Verify chain' }).click();
  await page.getByRole('button', { name: 'Verify chain' }).click();
  await page.getByText(/events, no gaps, chain intact/).waitFor();
  const head = (await t.events()).at(-1);
  await page.getByText(String(head?.hash)).waitFor();
  await isAccessible(page);
  await append(t, ['another']);
  await page.getByRole('button', { name: 'Verify again' }).click();
  await page.getByText(/is unchanged since this browser verified it/).waitFor();
  await page.getByRole('link', { name: 'Events', exact: true }).click();
  await page.getByText(/^Verified to/).waitFor();

  const { workspace } = t.operator.principal;
  await t.app.store.write(workspace, async (tx) => {
    await sql`update events set payload = '{"a":1}' where seq = 20`.execute(tx.db);
  });
  await page.goto(`${url}/activity/chain`);
  await page.getByRole('button', { name: 'Verify chain' }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'Event 20' });
  await alert.getByText(/its content does not match its hash. The 19 events before it are intact/).waitFor();
  await isAccessible(page);
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sideways(page)).toBe(0);
  await alert.getByRole('link', { name: 'Open event 20' }).click();
  await page.getByRole('dialog').getByText('its content does not match its hash').waitFor();
  await expect.poll(() => focused(page)).toContain('event.');
  expect(errors).toEqual([]);
});
