import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../src/testing/app.ts';
import { focused, live, openBrowser, serveDashboard, signedIn, tab } from './browser.ts';

openBrowser();

describe('signing in', () => {
  test('[auth.dashboard.one-time-link] a link signs in once; a second use says that it is spent', async () => {
    const { link } = await serveDashboard();
    const { page } = await tab();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor();

    const { page: other } = await tab();
    await other.goto(link);
    await other.getByRole('alert').filter({ hasText: 'already used or has expired' }).waitFor();
    expect(await other.getByText('covenant open', { exact: true }).isVisible()).toBe(true);
  });

  test('without a cookie the page says how to get a link, and shows nothing else', async () => {
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

  test('a sign-in that ends while the page is open leads back to the sign-in page', async () => {
    const { page, t } = await signedIn('/settings');
    const { items } = (await t.done('tokens.list', {})) as { items: { kind: string; token_id: string }[] };
    const session = items.find(({ kind }) => kind === 'web');
    await t.done('tokens.revoke', { token_id: session?.token_id });
    await page.getByRole('heading', { name: 'Sign in to Covenant' }).waitFor();
  });

  test('a sign-in that has run out is noticed by what is tried with it', async () => {
    const { page, t, url } = await signedIn();
    // No event may give it away: refusals are journaled in another workspace than most people's.
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
  test('[auth.ui.create] a developer makes a token, sees it once, and an agent is let in with it', async () => {
    const { page, url } = await signedIn('/settings');
    await page.getByLabel('Label').fill('laptop');
    await page.getByLabel('Agent').selectOption('codex');
    await page.getByText('As a command').click();
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

  test('[auth.ui.revoke] a developer revokes a token after a question, and it is refused from then on', async () => {
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

  test('the dialog closes on Escape and gives the focus back', async () => {
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

  test("an admin sees their own tokens here, not everybody's", async () => {
    const { page, t } = await signedIn('/settings');
    await t.done('tokens.create', { developer: 'li', label: 'token of li' });
    await createToken(page);
    expect(await page.getByText('token of li').count()).toBe(0);
  });

  test('a developer hides their name and shows it again', async () => {
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
  test('an event appears without a reload, named by who made it', async () => {
    const { page, t } = await signedIn('/activity');
    await live(page);
    const agent = await t.developer('mira', 'codex');
    await t.tool('clock', {}, agent);
    await page.getByRole('row', { name: /clock codex@mira tool:clock.*ok/ }).waitFor({ timeout: 5_000 });
  });

  test('an empty journal says how to make a first event', async () => {
    const { page, url } = await signedIn();
    await page.route('**/api/actions/events.list', (route) => route.fulfill({ json: { items: [], head: { seq: 0, hash: '' } } }));
    await page.routeWebSocket('**/api/events?after=0', () => {});
    await page.goto(`${url}/activity`);
    await page.getByRole('button', { name: 'Copy covenant tools call clock' }).waitFor();
  });

  test('a journal that cannot be read says why, and is read on Retry', async () => {
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
    // After the fourth failure it would take four seconds to try again by itself.
    await expect.poll(() => refused, { timeout: 10_000 }).toBe(4);
    await page.unroute('**/api/actions/events.list');
    await problem.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('row', { name: /signin.completed/ }).waitFor({ timeout: 3_000 });
  });

  test('the filter is in the address, and holds after a reload', async () => {
    const { page } = await signedIn('/activity');
    await page.getByRole('row', { name: /audit/ }).first().waitFor();
    await page.getByLabel('Category').selectOption('work');
    await page.waitForURL('**/activity?category=work');
    await page.reload();
    await page.getByRole('row', { name: 'work' }).first().waitFor();
    expect(await page.getByRole('row', { name: /audit/ }).count()).toBe(0);
    expect(await page.getByRole('combobox', { name: 'Category' }).inputValue()).toBe('work');
  });

  test('what agents wrote is text, whatever it looks like', async () => {
    const { page, t } = await signedIn('/activity');
    const markup = '<img src=x onerror="document.title=\'broken\'"><b>bold</b>';
    await t.app.store.append(t.operator.principal.workspace, [
      { category: 'work', kind: markup, actor: markup, subject: markup, payload: { outcome: markup } },
    ]);
    // The outcome is a state, which is cut to a word.
    await expect.poll(() => page.getByText(markup).count()).toBe(3);
    expect(await page.title()).toBe('Activity · Covenant');
  });

  test('who has scrolled keeps their place, and is told what is new', async () => {
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

  test('older events come on the way down, to the first', async () => {
    const t = await testApp();
    await append(t, 600);
    const { page } = await signedIn('/activity', {}, t);
    await expectWhole(page, t);
  });

  test('a lost connection is told after five seconds, and when it is back nothing is missing or doubled', async () => {
    const t = await testApp();
    const { page, way } = await signedIn('/activity', {}, t);
    if (!way) throw new Error('no way to cut');
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

  test('after a long absence the newest events are shown, without a gap and without replaying them', async () => {
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

  test('a connection that is cut again and again while events pour in loses and doubles none', async () => {
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

  test('logs no error, asks no other host, and breaks no content policy', async () => {
    const { page, errors, hosts, url } = await signedIn();
    for (const path of PATHS) {
      await page.goto(url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await live(page);
    }
    expect(errors).toEqual([]);
    expect([...hosts]).toEqual([new URL(url).host]);
  });

  test('can be reached by keyboard alone', async () => {
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

/** The page shows the journal, all of it and each event once, newest first: only the rows near the window stand in it. */
async function expectWhole(page: Page, t: TestApp): Promise<void> {
  const journal = (await t.events()).map(({ seq }) => seq).reverse();
  await page.getByRole('table', { name: 'Events, newest first' }).waitFor();
  const seen = await page.evaluate(async () => {
    const all: number[] = [];
    scrollTo(0, 0);
    for (const end = performance.now() + 15_000; all.at(-1) !== 1 && performance.now() < end; ) {
      await new Promise((shown) => requestAnimationFrame(() => setTimeout(shown)));
      const near = [...document.querySelectorAll<HTMLElement>('tr[data-row]')].map(({ dataset }) => Number(dataset.id));
      // What comes into sight goes on from what was seen.
      const known = near.indexOf(all.at(-1) ?? -1);
      if (all.length > 0 && known < 0) return [...all, Number.NaN, ...near];
      all.push(...near.slice(known + 1));
      scrollBy(0, innerHeight / 2);
    }
    return all;
  });
  expect(seen).toEqual(journal);
}
