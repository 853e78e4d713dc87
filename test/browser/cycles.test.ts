import { expect, test } from 'vitest';
import { testClock } from '../../src/testing/clock.ts';
import { cycleApp, PSKS } from '../../src/testing/scenes/cycle.ts';
import { isAccessible } from './axe.ts';
import { focused, live, openBrowser, sideways, signedIn } from './browser.ts';

openBrowser();

const HOSTILE = '<img src=x onerror=alert(1)>\u202Eevil';

test('shows live whose turn it is, shows handoffs with their changes, and lets a person complete, archive and cancel a cycle', async () => {
  const t = await cycleApp({ clock: testClock(Date.now()) });
  const { page, url, errors } = await signedIn('/cycles', {}, t, 'ana');
  await live(page);
  await page.getByRole('button', { name: 'Copy covenant cycle init' }).waitFor();
  await page.getByRole('button', { name: 'Copy covenant cycle start --feature checkout' }).waitFor();
  const [gemini, codex] = [await t.open('gemini'), await t.open('codex')];
  const { lock_token } = await t.ok('cycle.start', { feature: 'checkout' });
  await page.getByRole('row', { name: /checkout frontend gemini/ }).waitFor();
  await page.keyboard.press('j');
  expect(await focused(page)).toBe('checkout');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
  await page.getByText('gemini’s turn, phase frontend.').waitFor();
  await page.getByText('No handoffs yet. gemini writes the first one with handoff.write.').waitFor();

  await t.handOver('codex', gemini, { payload: await t.payload('codex', { todos: ['Check the stock', HOSTILE], notes: ['x'.repeat(8_000)] }) });
  await page.getByRole('img', { name: /^Phases: frontend of gemini; backend of codex, now;/ }).waitFor();
  await t.handOver('gemini', codex);
  await t.handOver('codex', gemini, { payload: await t.payload('codex', { todos: ['Check the stock', 'Answer 409'] }) });
  await page.getByText('Rework: 1 round.').waitFor();
  await page.getByText('Phases as a table').click();
  await page.getByRole('row', { name: 'frontend_refine gemini to codex backend (now) 1 time (rework)' }).waitFor();
  await isAccessible(page);

  await page.getByRole('link', { name: '3. gemini to codex' }).click();
  const panel = page.getByRole('dialog', { name: 'Handoff 3: gemini to codex' });
  const todos = panel.getByRole('region', { name: 'To do' });
  await todos.getByText('1 new, 1 removed, 1 unchanged').waitFor();
  expect(await todos.getByRole('listitem').allTextContents()).toEqual([
    'Check the stock',
    '+new: Answer 409',
    '−removed: <img src=x onerror=alert(1)>[U+202E]evil',
  ]);
  await isAccessible(page);
  await panel.getByRole('link', { name: 'Show full text' }).click();
  await expect.poll(() => new URL(page.url()).search).toBe('?handoff=3&whole=true');
  expect(await todos.getByRole('listitem').count()).toBe(2);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });

  await t.handOver('gemini', codex);
  await page.getByRole('button', { name: 'Complete' }).click();
  const complete = page.getByRole('dialog', { name: 'Complete this cycle?' });
  await complete.getByText('the cycle moves from frontend_refine to complete').waitFor();
  await complete.getByRole('button', { name: 'Complete', exact: true }).click();
  await page.getByRole('button', { name: 'Archive' }).click();
  await page.getByRole('dialog', { name: 'Archive this cycle?' }).getByRole('button', { name: 'Archive', exact: true }).click();
  await page.getByText(/^Archived.*ago|^Archived.*just now/).waitFor();
  await page.getByText('.mcp-broker/archive/').first().waitFor();

  await page.getByRole('button', { name: 'Close the session of codex' }).click();
  const closing = page.getByRole('dialog', { name: 'Close the session of codex?' });
  await closing.getByText(/covenant cycle close-session rses_/).waitFor();
  await closing.getByRole('button', { name: 'Close session' }).click();
  await page.getByText('1 ended session').waitFor();
  expect(await t.refused('lock.acquire', { session_token: codex })).toMatchObject({ code: 'INVALID_SESSION' });

  await t.ok('cycle.start', { feature: HOSTILE });
  await page.goto(`${url}/cycles`);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole('link', { name: /<img src=x/ }).click();
  await page.getByRole('button', { name: 'Cancel cycle' }).click();
  const cancel = page.getByRole('dialog', { name: 'Cancel this cycle?' });
  await cancel.getByRole('textbox', { name: 'Reason' }).fill('Not now');
  const button = cancel.getByRole('button', { name: 'Cancel cycle' });
  expect(await button.isDisabled()).toBe(true);
  // The name of the feature contains characters that people cannot type, so the dialog asks for the id.
  const asked = (await cancel.getByText(/^Type .* to confirm$/).textContent()) ?? '';
  await isAccessible(page);
  await cancel.getByLabel(/to confirm/).fill(asked.replace(/^Type (.*) to confirm$/, '$1'));
  await button.click();
  await page.getByText('Reason: Not now').waitFor();
  expect(await sideways(page)).toBe(0);
  expect(await page.locator('img[src=x]').count()).toBe(0);
  const shown = await page.content();
  for (const secret of [PSKS.gemini, PSKS.codex, gemini, codex, lock_token]) expect(shown).not.toContain(secret);
  expect(errors).toEqual([]);
});
