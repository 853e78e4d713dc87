import { expect, test } from 'vitest';
import { testApp } from '../../src/testing/app.ts';
import { testClock } from '../../src/testing/clock.ts';
import { child, upstreamApp } from '../../src/testing/stand-ins/upstreams.ts';
import { isAccessible } from './axe.ts';
import { focused, live, openBrowser, openLink, sideways, signedIn, tab } from './browser.ts';

openBrowser();

const now = () => ({ clock: testClock(Date.now()) });

test('shows a changed definition word by word, makes it callable after approval by keyboard, and keeps a rejected one withheld [gateway.pin.approve]', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('changes-description') }], now());
  await app.event('upstream.seen', 'far');
  const { page, errors } = await signedIn('/tools/changes', {}, app, 'mira');
  await live(page);
  await page.getByText('No withheld definitions.').waitFor();
  await app.call('far_change', { text: 'Returns the\u200B text, and <b>sends</b> it to \u202Eme.' });
  const row = page.getByRole('row', { name: /far_echo tool far .*changed 2 changes/ });
  await row.waitFor();
  expect(await page.title()).toBe('(1) Changes · Covenant');
  expect((await app.call('far_echo', { text: 'hi' })).reply).toMatchObject({ code: 'TOOL_WITHHELD' });

  await page.keyboard.press('j');
  expect(await focused(page)).toBe('far_echo');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog', { name: 'far_echo' });
  const difference = panel.getByRole('region', { name: 'Difference' });
  await difference.getByText('2 invisible characters in the new text').waitFor();
  const marked = (tag: string) => difference.locator(tag).allTextContents();
  expect(await marked('ins')).toEqual(['[U+200B]', ', and <b>sends</b> it to [U+202E]me', '{\n  "type": "string"\n}']);
  expect(await marked('del')).toEqual([]);
  expect(await difference.textContent()).toContain('Returns the[U+200B] text');
  await isAccessible(page);
  const approve = panel.getByRole('button', { name: 'Approve' });
  for (let presses = 0; presses < 10 && !(await approve.evaluate((button) => button === document.activeElement)); presses++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('Approved far_echo. It can be called again.', { exact: true }).waitFor();
  await panel.waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Changes');
  expect((await app.call('far_echo', { text: 'again' })).body).toMatchObject({ content: [{ text: 'again' }] });

  await app.call('far_change', { text: `Sends it ${'all-of-it-'.repeat(900)}` });
  await page.getByRole('link', { name: 'far_echo' }).click();
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await sideways(page)).toBe(0);
  await panel.getByRole('button', { name: 'Reject' }).click();
  await page.getByText('Rejected far_echo. It stays withheld and can still be approved.', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Show 1 rejected definition' }).click();
  await page.getByRole('row', { name: /far_echo tool far rejected/ }).waitFor();
  expect((await app.call('far_echo', { text: 'hi' })).reply).toMatchObject({ code: 'TOOL_WITHHELD' });
  expect(await sideways(page)).toBe(0);
  expect(errors).toEqual([]);
});

test('checks tool access and shows the deciding grant, offers a missing grant with the narrowest scope first, and revokes it', async () => {
  const app = await testApp(now());
  const { page, errors } = await signedIn('/tools', {}, app, 'mira');
  const codex = await app.developer('ben', 'codex');
  const answer = page.getByRole('status', { name: 'Access to echo' });
  await page.getByLabel('Name', { exact: true }).fill('ben');
  await page.getByLabel('Tool', { exact: true }).fill('echo');
  await page.keyboard.press('Enter');
  await answer.getByText('Denied: this agent token lacks tool.call.echo.').waitFor();
  await answer.getByText('covenant capabilities grant tool.call.echo --developer=ben').waitFor();
  expect(await page.evaluate(() => document.activeElement instanceof HTMLInputElement)).toBe(true);
  await isAccessible(page);

  await answer.getByRole('button', { name: 'Grant…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Grant capability' });
  expect(await dialog.getByLabel('Action').inputValue()).toBe('tool.call.echo');
  expect(await dialog.getByLabel('Ask each time').isChecked()).toBe(true);
  await dialog.getByLabel('Ask in the client too').check();
  await dialog.getByText(`--scope='{"approve":"client"}'`).waitFor();
  await dialog.getByLabel('One hour').check();
  await dialog.getByText('covenant capabilities grant tool.call.echo --developer=ben --expires-in-minutes=60').waitFor();
  await dialog.getByLabel('Once').check();
  await dialog.getByText(`--scope='{"max_uses":1}'`).waitFor();
  await isAccessible(page);
  await dialog.getByRole('button', { name: 'Grant', exact: true }).click();
  await page.getByText('Granted tool.call.echo to ben.', { exact: true }).waitFor();
  const row = page.getByRole('row', { name: /^ben tool\.call\.echo limited uses 1 never mira .*live/ });
  await row.waitFor();
  await page.goto(`${new URL(page.url()).origin}/tools?who=token:${codex.tokenId}&can=echo`);
  await answer.getByText(/by grant_….{6} \(tool\.call\.echo to ben\): 1 of 1 use left/).waitFor();
  expect((await app.tool('echo', { text: 'hi' }, codex)).isError).toBe(false);

  await page.goto(`${new URL(page.url()).origin}/tools/matrix?q=echo`);
  await page.getByRole('link', { name: 'codex@ben, echo: no' }).waitFor();
  await app.done('capabilities.grant', { action: 'tool.call.echo', developer: 'ben', scope: { approve: true } });
  await page.getByRole('link', { name: 'codex@ben, echo: asks' }).waitFor();
  await isAccessible(page);
  await page.getByRole('link', { name: 'Grants' }).click();
  await page
    .getByRole('row', { name: /^ben tool\.call\.echo approval per call/ })
    .getByRole('button', { name: 'Revoke' })
    .click();
  const question = page.getByRole('dialog', { name: 'Revoke this grant?' });
  await question.getByText('1 call of this tool in the last 24 h').waitFor();
  await question.getByRole('button', { name: 'Revoke grant', exact: true }).click();
  await page.getByText('Revoked tool.call.echo from ben.', { exact: true }).waitFor();
  await page.getByRole('row', { name: /^ben tool\.call\.echo approval per call .*revoked/ }).waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await sideways(page)).toBe(0);
  expect(errors).toEqual([]);
});

test('shows the state and log of servers, restarts them, explains how to add one, and tells members which rights they lack', async () => {
  const app = await upstreamApp([], now());
  const { page, url, errors } = await signedIn('/tools/servers', {}, app, 'mira');
  await page.getByRole('button', { name: 'Copy: secrets.toml entry' }).waitFor();
  await page.getByRole('button', { name: 'Copy covenant servers list' }).waitFor();
  app.configure({ name: 'near', ...child('plain', { CHILD_SAYS: 'sesame-open' }) }, { name: 'broken', command: 'x', args: ['$NOT_SET'] });
  await page.getByRole('row', { name: /near up stdio 6 tools 0/ }).waitFor({ timeout: 20_000 });
  await page.getByText('args.0: the environment variable NOT_SET is not set').waitFor();
  await page.getByRole('link', { name: 'near' }).click();
  const panel = page.getByRole('dialog', { name: 'near' });
  await panel.getByText('stderr: [redacted]').waitFor();
  await isAccessible(page);
  await panel.getByRole('button', { name: 'Restart' }).click();
  await page.getByRole('dialog', { name: 'Restart near?' }).getByRole('button', { name: 'Restart', exact: true }).click();
  await page.getByText('near was restarted and is up.', { exact: true }).waitFor();

  await app.call('near_echo', { text: 'hi' });
  await panel.getByRole('link', { name: 'Show tools' }).click();
  await page.getByRole('row', { name: /near_echo near up \d+ 1 0/ }).waitFor();
  await page.getByRole('link', { name: 'near_echo' }).click();
  await page.getByRole('dialog', { name: 'near_echo' }).getByText('The tool echo.').waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sideways(page)).toBe(0);

  await app.developer('ben');
  const { path } = await app.done('signin.link', { developer: 'ben' });
  const member = await tab();
  await openLink(member.page, url + String(path));
  await member.page.goto(`${url}/tools/changes`);
  await member.page.getByText('This page needs operator rights').waitFor();
  await member.page.goto(`${url}/tools?who=developer:ben&can=echo`);
  const grant = member.page.getByRole('button', { name: 'Grant…' });
  await grant.waitFor();
  expect([await grant.isDisabled(), await grant.getAttribute('title')]).toEqual([true, expect.stringContaining('operator rights')]);
  expect([...errors, ...member.errors]).toEqual([]);
});
