import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../src/testing/app.ts';
import { focused, live, openBrowser, serveDashboard, signedIn, tab } from './browser.ts';

openBrowser();

describe('signing in', () => {
  test('[auth.dashboard.one-time-link] signs in with a link once and reports a second use', async () => {
    const { link } = await serveDashboard();
    const { page } = await tab();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor();

    const { page: other } = await tab();
    await other.goto(link);
    await other.getByRole('alert').filter({ hasText: 'already used or has expired' }).waitFor();
    expect(await other.getByText('covenant open', { exact: true }).isVisible()).toBe(true);
  });

  test('without a session, shows only how to get a sign-in link', async () => {
    const { url } = await serveDashboard();
    const { page, context } = await tab();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${url}/settings`);
    await page.getByRole('heading', { name: 'Sign in to Covenant' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await page.getByRole('navigation').count()).toBe(0);
    await page.getByRole('button', { name: 'Copy covenant open' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('covenant open');
  });

  test('returns to the sign-in page when the session ends', async () => {
    const { page, t } = await signedIn('/settings');
    const { items } = (await t.done('tokens.list', {})) as { items: { kind: string; token_id: string }[] };
    const session = items.find(({ kind }) => kind === 'web');
    await t.done('tokens.revoke', { token_id: session?.token_id });
    await page.getByRole('heading', { name: 'Sign in to Covenant' }).waitFor();
  });

  test('returns to the sign-in page when an action finds that the session has expired', async () => {
    const { page, t, url } = await signedIn();
    // Block the event feed, so that the page can find out only from an action.
    await page.routeWebSocket('**/api/events*', () => {});
    await page.goto(`${url}/settings`);
    await page
      .getByRole('button', { name: /^Revoke / })
      .first()
      .waitFor();
    t.clock.advance(31 * 24 * 3_600_000);
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('heading', { name: 'Sign in to Covenant' }).waitFor();
  });
});

describe('settings', () => {
  test('[auth.ui.create] creates a token, shows it once, and accepts calls with it', async () => {
    const { page, url } = await signedIn('/settings');
    await page.getByLabel('Label').fill('laptop');
    await page.getByLabel('Agent').selectOption('codex');
    await page.getByText('Command line').click();
    expect(await page.getByText('covenant tokens create --developer=mira --agent=codex --label=laptop').isVisible()).toBe(true);
    const token = await createToken(page);
    expect(await callClock(url, token)).toMatchObject({ status: 200, body: { isError: false } });
    expect(await page.getByRole('row', { name: /laptop.*Codex.*live/ }).count()).toBe(1);

    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('region', { name: 'New token laptop' }).waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(token);
    await page.reload();
    await page.getByRole('row', { name: /laptop/ }).waitFor();
    expect(await page.content()).not.toContain(token);
  });

  test('[auth.ui.revoke] revokes a token after a confirmation and refuses it from then on', async () => {
    const { page, url } = await signedIn('/settings');
    await page.getByLabel('Label').fill('old laptop');
    const token = await createToken(page);
    expect((await callClock(url, token)).status).toBe(200);

    await page.getByRole('button', { name: 'Revoke old laptop' }).click();
    await page.getByRole('dialog', { name: 'Revoke old laptop?' }).getByRole('button', { name: 'Cancel' }).click();
    expect((await callClock(url, token)).status).toBe(200);

    await page.getByRole('button', { name: 'Revoke old laptop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('1 revoked or expired token').waitFor();
    expect(await page.getByRole('button', { name: 'Revoke old laptop' }).count()).toBe(0);
    await expect.poll(() => focused(page)).toBe('Tokens');
    expect((await callClock(url, token)).status).toBe(401);
  });

  test('closes the dialog on Escape and restores the focus', async () => {
    const { page } = await signedIn('/settings');
    const revoke = page.getByRole('button', { name: /^Revoke / }).first();
    await revoke.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await focused(page)).toBe('Cancel');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await revoke.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  test('lists only the tokens of the signed-in admin by default', async () => {
    const { page, t } = await signedIn('/settings');
    await t.done('tokens.create', { developer: 'li', label: 'token of li' });
    await createToken(page);
    expect(await page.getByText('token of li').count()).toBe(0);
  });

  test('hides the name of a developer and shows it again', async () => {
    const { page, t } = await signedIn('/settings/members');
    const seen = async () => ((await t.done('developers.list', {})) as { items: { name: string }[] }).items.map(({ name }) => name);
    await page.getByRole('radio', { name: /^Private/ }).click();
    await expect.poll(seen).toEqual(['@private']);
    await expect.poll(() => page.getByRole('radio', { name: /^Private/ }).isChecked()).toBe(true);
    await page.getByRole('radio', { name: /^Team/ }).click();
    await expect.poll(seen).toEqual(['mira']);
  });
});

describe('activity', () => {
  test('shows a new event with its actor without a reload', async () => {
    const { page, t } = await signedIn('/activity');
    await live(page);
    const agent = await t.developer('mira', 'codex');
    await t.tool('clock', {}, agent);
    await page.getByRole('row', { name: /clock codex@mira tool:clock.*ok/ }).waitFor({ timeout: 5_000 });
  });

  test('shows the command for a first event if the journal is empty', async () => {
    const { page, url } = await signedIn();
    await page.route('**/api/actions/events.list', (route) => route.fulfill({ json: { items: [], head: { seq: 0, hash: '' } } }));
    await page.routeWebSocket('**/api/events?after=0', () => {});
    await page.goto(`${url}/activity`);
    await page.getByRole('button', { name: 'Copy covenant tools call clock' }).waitFor();
  });

  test('shows why the journal cannot be loaded, and loads it on Retry', async () => {
    const { page, url } = await signedIn();
    const refusal = { code: 'INTERNAL', message: 'The disk is full.', recoverable: false, suggestion: 'Make room.' };
    let refused = 0;
    await page.route('**/api/actions/events.list', (route) => {
      refused++;
      return route.fulfill({ status: 500, json: refusal });
    });
    await page.goto(`${url}/activity`);
    const problem = page.getByRole('alert').filter({ hasText: 'The disk is full. Make room.' });
    expect(await problem.getByText('INTERNAL').innerText()).toBe('INTERNAL');
    // After the fourth failure, the page waits four seconds before it retries.
    await expect.poll(() => refused, { timeout: 10_000 }).toBe(4);
    await page.unroute('**/api/actions/events.list');
    await problem.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('row', { name: /signin.completed/ }).waitFor({ timeout: 3_000 });
  });

  test('keeps the filter in the address across a reload', async () => {
    const { page } = await signedIn('/activity');
    await page.getByRole('row', { name: /audit/ }).first().waitFor();
    await page.getByLabel('Category').selectOption('work');
    await page.waitForURL('**/activity?category=work');
    await page.reload();
    await page.getByRole('row', { name: 'work' }).first().waitFor();
    expect(await page.getByRole('row', { name: /audit/ }).count()).toBe(0);
    expect(await page.getByRole('combobox', { name: 'Category' }).inputValue()).toBe('work');
  });

  test('shows text of agents as plain text', async () => {
    const { page, t } = await signedIn('/activity');
    const markup = '<img src=x onerror="document.title=\'broken\'"><b>bold</b>';
    await t.app.store.append(t.operator.principal.workspace, [
      { category: 'work', kind: markup, actor: markup, subject: markup, payload: { outcome: markup } },
    ]);
    // The list shows only one word as the outcome.
    await expect.poll(() => page.getByText(markup).count()).toBe(3);
    expect(await page.title()).toBe('Activity · Covenant');
  });

  test('keeps the scroll position and counts new events', async () => {
    const { page, t } = await signedIn('/activity');
    await append(t, 60);
    await page.getByText('event.60', { exact: true }).waitFor();
    await page.mouse.wheel(0, 400);
    const resume = page.getByRole('button', { name: 'Paused · 2 new · Resume' });
    await page.waitForFunction(() => scrollY > 80);
    await append(t, 2, 'later');
    await resume.click();
    await page.getByText('later.2', { exact: true }).waitFor();
    expect(await resume.count()).toBe(0);
  });

  test('loads older events on scroll, down to the first', async () => {
    const t = await testApp();
    await append(t, 600);
    const { page } = await signedIn('/activity', {}, t);
    await expectWhole(page, t);
  });

  test('reports a lost connection after five seconds, and misses or repeats no event after reconnecting', async () => {
    const t = await testApp();
    const { page, way } = await signedIn('/activity', {}, t);
    if (!way) throw new Error('the connection cannot be cut');
    await live(page);
    await append(t, 5, 'before');
    await page.getByText('before.5', { exact: true }).waitFor();

    await way.cut();
    await append(t, 30, 'during');
    await page.getByRole('alert').filter({ hasText: 'Disconnected' }).waitFor({ timeout: 7_000 });
    expect(await page.getByText('during.1', { exact: true }).count()).toBe(0);

    await way.mend();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('during.30', { exact: true }).waitFor();
    await live(page);
    expect(await page.getByText('Disconnected').count()).toBe(0);
    await append(t, 3, 'after');
    await page.getByText('after.3', { exact: true }).waitFor();
    await expectWhole(page, t);
  });

  test('shows the newest events after a long absence without replaying all of them', async () => {
    const t = await testApp();
    const { page, way } = await signedIn('/activity', {}, t);
    await live(page);
    await way?.cut();
    await append(t, 1_100);
    let replayed = 0;
    page.on('websocket', (socket) => socket.on('framereceived', () => replayed++));
    await way?.mend();
    await page.getByText('event.1100', { exact: true }).waitFor();
    await live(page);
    expect(replayed).toBe(0);
    await expectWhole(page, t);
  });

  test('shows each event exactly once although the connection is cut repeatedly', async () => {
    const t = await testApp();
    const { page, way } = await signedIn('/activity', {}, t);
    for (let round = 1; round <= 3; round++) {
      await live(page);
      const pouring = (async () => {
        for (let part = 1; part <= 10; part++) await append(t, 1, `round.${round}.${part}`);
      })();
      await way?.cut();
      await pouring;
      await way?.mend();
      await page.getByText(`round.${round}.10.1`, { exact: true }).waitFor();
    }
    await expectWhole(page, t);
  });
});

describe('every page', () => {
  const PATHS = ['/', '/tasks', '/tasks/overlaps', '/tasks/week', '/activity', '/settings', '/nowhere'];

  test('logs no errors, contacts no other host and violates no content policy', async () => {
    const { page, errors, hosts, url } = await signedIn();
    for (const path of PATHS) {
      await page.goto(url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await live(page);
    }
    expect(errors).toEqual([]);
    expect([...hosts]).toEqual([new URL(url).host]);
  });

  test('can be used by keyboard', async () => {
    const { page } = await signedIn('/activity');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    await page.keyboard.press('Tab');
    for (const name of ['Now', 'Work', 'Workflows', 'Reviews', 'Cycles', 'Messages', 'Tools', 'Activity', 'Usage', 'Settings']) {
      expect(await focused(page)).toBe(name);
      if (name !== 'Settings') await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  });
});

async function createToken(page: Page): Promise<string> {
  const answered = page.waitForResponse('**/api/actions/tokens.create');
  await page.getByRole('button', { name: 'Create token' }).click();
  const { token, label } = (await (await answered).json()) as { token: string; label: string };
  const shown = page.getByRole('region', { name: `New token ${label}` });
  await shown.waitFor();
  expect(await shown.getByText(/^cv_/).innerText()).toBe(token);
  return token;
}

async function callClock(url: string, token: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}/api/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tool: 'clock', arguments: {} }),
  });
  return { status: response.status, body: await response.json() };
}

async function append(t: TestApp, count: number, name = 'event'): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({ category: 'work' as const, kind: `${name}.${index + 1}`, actor: 'operator' }));
  await t.app.store.append(t.operator.principal.workspace, events);
}

/** Scrolls through the list and checks that it shows every event once, newest first. Only rows near the window are in the DOM. */
async function expectWhole(page: Page, t: TestApp): Promise<void> {
  const journal = (await t.events()).map(({ seq }) => seq).reverse();
  await page.getByRole('table', { name: 'Events, newest first' }).waitFor();
  const seen = await page.evaluate(async () => {
    const all: number[] = [];
    scrollTo(0, 0);
    for (const end = performance.now() + 15_000; all.at(-1) !== 1 && performance.now() < end; ) {
      await new Promise((shown) => requestAnimationFrame(() => setTimeout(shown)));
      const near = [...document.querySelectorAll<HTMLElement>('tr[data-row]')].map(({ dataset }) => Number(dataset.id));
      // The rows that are visible now must include the last row that was seen before.
      const known = near.indexOf(all.at(-1) ?? -1);
      if (all.length > 0 && known < 0) return [...all, Number.NaN, ...near];
      all.push(...near.slice(known + 1));
      scrollBy(0, innerHeight / 2);
    }
    return all;
  });
  expect(seen).toEqual(journal);
}
