import { test } from 'vitest';
import { testApp } from '../../src/testing/app.ts';
import { launchBrowser } from '../../src/testing/browser.ts';
test('shots', async () => {
  const browser = await launchBrowser();
  const t = await testApp({ clock: { ...(await import('../../src/testing/clock.ts')).testClock(), now: () => Date.now() } as never });
  const server = await t.serve();
  const mira = await t.developer('mira');
  const codex = await t.developer('mira', 'codex');
  const li = await t.developer('li', 'claude-code');
  for (let i = 0; i < 6; i++) { await t.tool('clock', {}, codex); await t.tool('echo', { text: 'hi' }, i % 2 ? li : mira); await t.tool('nope', {}, li); }
  await t.tool('clock', { bad: 1 }, codex);
  await t.done('capabilities.grant', { action: 'tool.call.echo', subject: `developer:${mira.principal.developerId}` }).catch(() => {});
  for (const colorScheme of ['light', 'dark'] as const) for (const width of [1440, 768, 390]) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 860 }, hasTouch: width === 390, isMobile: width === 390 });
    const page = await context.newPage();
    await page.goto(server.url + '/?signin=expired');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.screenshot({ path: `/tmp/shots/signin-${width}-${colorScheme}.png` });
    const { path } = await t.done('signin.link', { developer: 'mira' });
    await page.goto(server.url + path);
    await page.locator('header').getByText('Live').waitFor();
    await page.waitForTimeout(400);
    await page.screenshot({ path: `/tmp/shots/activity-${width}-${colorScheme}.png` });
    await page.goto(server.url + '/settings');
    await page.getByRole('button', { name: /^Revoke/ }).first().waitFor();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('button', { name: 'Done' }).waitFor();
    await page.waitForTimeout(300);
    await page.screenshot({ path: `/tmp/shots/settings-${width}-${colorScheme}.png` });
    await page.getByRole('button', { name: /^Revoke/ }).first().click();
    await page.waitForTimeout(200);
    await page.screenshot({ path: `/tmp/shots/dialog-${width}-${colorScheme}.png` });
    await context.close();
  }
  await browser.close();
}, 120_000);
