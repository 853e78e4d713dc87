import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { live, openBrowser, openLink, serveDashboard, signedIn, tab } from './browser.ts';

openBrowser();

test('signs in with one click, names the account and opens the target of the link [harden.signin.names-account]', async () => {
  const { link } = await serveDashboard();
  const { page, errors } = await tab();
  await page.goto(`${link}?to=${encodeURIComponent('/settings/members')}`);
  await page.getByText('Signed in as mira, admin of default.').first().waitFor();
  expect(new URL(page.url()).pathname).toBe('/settings/members');
  await live(page);
  expect(errors).toEqual([]);
  await page.reload();
  await live(page);
  expect(await page.getByText('Signed in as mira').count()).toBe(0);
});

test('shows both accounts and asks for confirmation before it uses a sign-in link for a different account [harden.signin.names-account]', async () => {
  const { page, t, url } = await signedIn();
  await t.developer('stranger');
  const { path } = await t.done('signin.link', { developer: 'stranger' });
  const me = () => page.getByRole('button', { name: /^(mira|stranger): / }).getAttribute('aria-label');
  await page.goto(url + String(path));
  const question = page.getByRole('alert');
  await question.waitFor();
  expect(await question.innerText()).toMatch(/signs you in as stranger of workspace default\. This browser is signed in as mira of workspace default/);
  await page.getByRole('link', { name: 'Stay signed in as mira' }).click();
  await live(page);
  expect(await me()).toContain('mira');
  await page.goto(url + String(path));
  await page.getByRole('button', { name: 'Sign in as stranger' }).click();
  await page.getByText('Signed in as stranger, member of default.').first().waitFor();
  expect(await me()).toContain('stranger');
});

test('[auth.ui.create] [auth.ui.labels] refuses to create a token with an old sign-in, shows the command, and works after a sign-in in another tab', async () => {
  const { page, context, t, url } = await signedIn('/settings/tokens');
  await live(page);
  t.clock.advance(6 * 60_000);
  const create = page.getByRole('button', { name: 'Create token' });
  await create.click();
  const refused = page.getByRole('alert').filter({ hasText: 'SIGN_IN_AGAIN' });
  await refused.getByText('covenant open --developer=mira').waitFor();
  const { path } = await t.done('signin.link', { developer: 'mira' });
  await openLink(await context.newPage(), url + String(path));
  await create.click();
  await page.getByRole('region', { name: 'New token developer 2' }).waitFor();
  await create.click();
  await page.getByRole('region', { name: 'New token developer 3' }).waitFor();
  expect(await refused.count()).toBe(0);
});

/** Starts another program on the same host, which records the requests that browsers send to it. */
async function otherPort(): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((incoming, answer) => {
    requests.push(incoming);
    answer.setHeader('content-type', 'text/html').end('<title>dev server</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

test('refuses a cookie that the browser also sends to another port of the host [harden.session.cookie-alone]', async () => {
  const { page, url } = await signedIn();
  await live(page);
  const other = await otherPort();
  await page.goto(other.url);
  const cookie = other.requests.find(({ headers }) => headers.cookie)?.headers.cookie ?? '';
  expect(cookie).toMatch(/^covenant_\d+=cv_/);
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
  const act = await fetch(`${url}/api/actions/tokens.create`, { method: 'POST', headers: { 'content-type': 'application/json', cookie }, body: '{}' });
  expect([act.status, await act.json()]).toMatchObject([401, { data: { code: 'PROOF_REQUIRED' } }]);
  expect((await fetch(`${url}/api/state`, { headers: { cookie } })).status).toBe(401);
  const ws = new WebSocket(`${url.replace('http', 'ws')}/api/events`, { headers: { cookie } });
  const refused = await new Promise((resolve) => ws.on('open', () => resolve('open')).on('error', ({ message }) => resolve(message)));
  expect(refused).toContain('401');
});

test('ends the session and deletes its proof on sign-out, and ends all sessions on sign-out everywhere', async () => {
  const { page, t, url } = await signedIn('/settings/members');
  await live(page);
  const elsewhere = await tab();
  await openLink(elsewhere.page, url + String((await t.done('signin.link', { developer: 'mira' })).path));
  await live(elsewhere.page);
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('dialog').getByText('covenant developers signout mira').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  for (const each of [page, elsewhere.page]) await each.getByRole('heading', { name: 'Sign in to Covenant' }).waitFor();
  await expect.poll(() => page.evaluate(() => localStorage.getItem('covenant.proof'))).toBeNull();

  await openLink(page, url + String((await t.done('signin.link', { developer: 'mira' })).path));
  await live(page);
  await page.getByRole('button', { name: /^mira: / }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Covenant' }).waitFor();
  const { items } = (await t.done('tokens.list', { status: 'live' })) as { items: { kind: string }[] };
  expect(items.filter(({ kind }) => kind === 'web')).toEqual([]);
});

test('rotates a token from its panel, shows the new secret once, and accepts both secrets for 24 hours', async () => {
  const { page, t, url } = await signedIn('/');
  const codex = await t.developer('mira', 'codex');
  await page.goto(`${url}/settings/tokens?token=${codex.tokenId}`);
  await page.getByRole('button', { name: 'Rotate token' }).click();
  const dialog = page.getByRole('dialog', { name: /^Rotate / });
  await dialog.getByRole('button', { name: 'Rotate token' }).click();
  const fresh = await dialog.getByText(/^cv_/).innerText();
  for (const token of [codex.token, fresh]) expect(await t.app.authenticate(token, 'bearer')).toMatchObject({ principal: { tokenId: codex.tokenId } });
  t.clock.advance(24 * 3_600_000);
  expect(await t.app.authenticate(codex.token, 'bearer')).toEqual({ rejected: 'rotated' });
});
