import { expect, test } from 'vitest';
import { testApp } from '../../src/testing/app.ts';
import { isAccessible } from './axe.ts';
import { live, openBrowser, openLink, serveDashboard, sideways, signedIn, tab } from './browser.ts';

openBrowser();

const HOSTILE = `<img src=x onerror=alert(1)>\u202Eevil\u2066 💣 ${'w'.repeat(60)}`;

async function askFor(url: string, machine_name: string, agents: string[]) {
  const post = async (path: string, body: unknown) =>
    (await (await fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json()) as Record<
      string,
      string
    >;
  const { user_code = '', device_code = '', verification_uri_complete = '' } = await post('/api/setup/device', { machine_name, agents });
  return { user_code, page: verification_uri_complete, poll: () => post('/api/setup/device/poll', { device_code }) };
}

test('approves a device after sign-in and follows it until it has its tokens, rejects another, and revokes a device', async () => {
  const { t, url, link } = await serveDashboard();
  const { page, context, errors } = await tab({ viewport: { width: 390, height: 800 } });
  const device = await askFor(url, HOSTILE, ['claude-code', 'codex']);
  await page.goto(device.page);
  await page.getByRole('heading', { name: 'Sign in to Covenant' }).waitFor();
  expect(await page.getByText('Then return to this page').isVisible()).toBe(true);
  expect(await page.content()).not.toContain('evil');
  const other = await context.newPage();
  await openLink(other, link);
  await other.close();
  const request = page.getByRole('region', { name: 'Device request' });
  await request.getByText(device.user_code).first().waitFor();
  expect(await request.getByText('2 tokens: Claude Code and Codex').isVisible()).toBe(true);
  expect(await request.innerText()).toContain('<img src=x onerror=alert(1)>[U+202E]evil[U+2066] 💣');
  expect(await page.locator('img[src=x]').count()).toBe(0);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await isAccessible(page);
  await request.getByRole('button', { name: 'Approve' }).click();
  await page.getByText(/^Approved\./).waitFor();
  expect((await device.poll()).tokens).toMatchObject({ 'claude-code': expect.stringMatching(/^cv_/), codex: expect.stringMatching(/^cv_/) });
  await page.getByText(/^Set up\./).waitFor();

  // Enter the code by keyboard, and reject the device.
  const second = await askFor(url, 'a stranger', ['cursor']);
  await page.goto(`${url}/setup/authorize`);
  await page.getByRole('textbox', { name: 'Code' }).fill(second.user_code.toLowerCase().replace('-', ' '));
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Reject' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('a stranger gets no token').waitFor();
  expect(await second.poll()).toMatchObject({ status: 'denied' });
  await page.goto(second.page);
  await page.getByText('No device waits for approval with this code.').waitFor();
  expect(await page.getByRole('textbox', { name: 'Code' }).isVisible()).toBe(true);

  // An operator of the default workspace sees new requests live, without entering the code.
  await page.goto(`${url}/settings/devices`);
  await page.getByRole('button', { name: /^Revoke / }).waitFor();
  await live(page);
  await askFor(url, 'third', ['gemini']);
  await page.getByText('third (').waitFor();
  await page.getByRole('button', { name: /^Revoke / }).click();
  const dialog = page.getByRole('dialog', { name: 'Revoke this device?' });
  expect(await dialog.getByText('Claude Code and Codex on').isVisible()).toBe(true);
  await isAccessible(page);
  const id = ((await t.done('devices.list', {})) as { items: { device_id: string }[] }).items[0]?.device_id ?? '';
  expect(await dialog.getByRole('button', { name: 'Revoke 2 tokens' }).isDisabled()).toBe(true);
  await dialog.getByLabel(/^Type/).fill(id.slice(-6));
  await dialog.getByRole('button', { name: 'Revoke 2 tokens' }).click();
  await page.getByRole('row', { name: /revoked/ }).waitFor();
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  // Errors about requests without a session are expected.
  expect(errors.filter((error) => !error.includes('401') && !error.includes('404'))).toEqual([]);
});

test('[dashboard.agent-setup.config-has-cwd] [dashboard.agent-setup.block-is-finite] [dashboard.agent-setup.watch-is-separate] connects an agent with the shown configuration and shows its first call live', async () => {
  const { page, url, t, errors } = await signedIn('/settings/agents', { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.getByRole('link', { name: 'Codex' }).click();
  await page.getByText('export COVIBE_MCP_TOKEN=YOUR_TOKEN').waitFor();
  await page.getByRole('button', { name: 'Create token for Codex' }).click();
  const token = await page.getByRole('region', { name: 'New token codex 1' }).getByText(/^cv_/).innerText();
  await page.getByText(`export COVIBE_MCP_TOKEN=${token}; codex mcp add covenant --url ${url}/mcp`).waitFor();
  await page.getByText('Waiting for the first call').waitFor();

  await page.getByText('Use stdio instead').click();
  await page.getByLabel('Folder of your repository').fill("/srv/it's a shop");
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copy: Codex by stdio' }).click();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied).toContain('cwd = "/srv/it\'s a shop"');
  expect(await copied()).not.toContain(token);
  await page.getByRole('button', { name: 'Copy: Local setup' }).click();
  await expect.poll(copied).toMatch(/^\(\n {2}set -e\n {2}cd '\/srv\/it'\\''s a shop'\n {2}npm install --global /);
  const block = await copied();
  expect(block).toMatch(/read -r COVIBE_MCP_TOKEN\n.*covibe-local setup --base-url http.*covibe-local doctor\n\)$/s);
  expect(block).not.toContain('watch');
  await page.getByRole('button', { name: /^Copy npm install --global/ }).waitFor();
  await page.getByRole('button', { name: `Copy npm exec -- covibe-local setup --base-url ${url}` }).waitFor();
  await page.getByRole('button', { name: /^Copy covibe-local watch/ }).click();
  await expect.poll(copied).toBe(`covibe-local watch --base-url ${url}`);
  await isAccessible(page);

  await fetch(`${url}/api/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: '{"tool":"clock"}',
  });
  await page.getByText('Codex is connected.').waitFor();
  await page.reload();
  await page.getByText('Codex is connected.').waitFor();
  expect(await page.getByLabel('Folder of your repository').inputValue()).toBe("/srv/it's a shop");
  expect(await page.content()).not.toContain(token);
  expect((await t.events()).filter(({ kind }) => kind === 'setup.agents')).toEqual([]);
  expect(errors).toEqual([]);
});

test('changes limits, members, roles and theme, lists retention periods, and tells a member why an action is disabled', async () => {
  const t = await testApp();
  await t.developer('mira');
  await t.done('tokens.create', { developer: HOSTILE.replace('@', '').slice(0, 90) });
  const { page, url, errors } = await signedIn('/settings/limits', {}, t, 'mira');
  await live(page);
  const rounds = page.getByRole('form', { name: 'Maximum reviews per instance' });
  await rounds.getByRole('spinbutton').fill('7');
  await rounds.getByRole('button', { name: /^Save/ }).click();
  await page.getByText('Maximum reviews per instance: 7.').first().waitFor();
  const value = async () => ((await t.done('settings.list', {})) as { items: { value: number }[] }).items[0]?.value;
  expect(await value()).toBe(7);
  await page.getByRole('button', { name: 'Back to 3' }).click();
  await expect.poll(value).toBe(3);
  // Wait for the answer, because it would overwrite a value that is entered earlier.
  await expect.poll(() => rounds.getByRole('spinbutton').inputValue()).toBe('3');
  await rounds.getByRole('spinbutton').fill('0');
  expect(await rounds.getByRole('button', { name: /^Save/ }).isDisabled()).toBe(true);
  const closed = page.getByRole('switch', { name: /^Block edits while hooks/ });
  expect(await closed.getAttribute('aria-checked')).toBe('false');
  await page.getByText('they block every edit, commit and push').waitFor();
  await closed.click();
  await page.locator('[role=switch][aria-checked=true]').waitFor();
  await page.getByText('covenant settings set hooks.fail_closed off').waitFor({ state: 'attached' });
  const failClosed = async () => ((await t.done('settings.list', {})) as { items: { value: number; is_default: boolean }[] }).items.at(-1);
  expect(await failClosed()).toMatchObject({ value: 1, is_default: false });
  await page.getByRole('button', { name: 'Back to off' }).click();
  await expect.poll(failClosed).toMatchObject({ value: 0, is_default: true });
  await isAccessible(page);

  await page.getByRole('link', { name: 'Members', exact: true }).click();
  await page.getByRole('button', { name: 'Create link to sign in as mira' }).click();
  await page.getByRole('button', { name: 'Create link', exact: true }).click();
  const link = await page.getByText(`${url}/signin/`).innerText();
  await isAccessible(page);
  const guest = await tab();
  await openLink(guest.page, link);
  await guest.page.locator('header').getByText('Live').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Add developer' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('li');
  await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('region', { name: 'New token developer 1' }).getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: /^li member/ }).waitFor();

  await page.getByRole('link', { name: 'Roles' }).click();
  await page.getByRole('combobox', { name: 'Needs' }).selectOption('server');
  await page.getByRole('row', { name: /Back up server\.backup changes Operator not allowed/ }).waitFor();
  expect(page.url()).toContain('needs=server');
  await page.getByRole('row', { name: /^team .* ✓ yes ✓ yes ✓ yes — no/ }).waitFor();
  await isAccessible(page);
  await page.getByRole('link', { name: 'Retention' }).click();
  await page.getByRole('row', { name: /The journal.* forever/ }).waitFor();
  await page.getByRole('row', { name: /Checks before a start 7 days/ }).waitFor();
  await page.getByRole('link', { name: 'Theme' }).click();
  await page.getByRole('radio', { name: /^Dark/ }).click();
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  await isAccessible(page);
  await page.setViewportSize({ width: 360, height: 800 });
  for (const view of ['Tokens', 'Agent setup', 'Devices', 'Members', 'Roles', 'Limits', 'Retention', 'Theme']) {
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: view }).click();
    await expect.poll(() => page.title()).toBe(`${view} · Covenant`);
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    expect(await sideways(page), view).toBeLessThanOrEqual(0);
  }
  expect(errors).toEqual([]);

  // For a member, the action is disabled, and the page shows why.
  const { path } = await t.done('signin.link', { developer: 'li' });
  const member = await tab();
  await openLink(member.page, `${url}${String(path)}`);
  await member.page.goto(`${url}/settings/limits`);
  const save = member.page.getByRole('button', { name: 'Save: Maximum reviews per instance' });
  expect([await save.isDisabled(), await save.getAttribute('title')]).toEqual([true, expect.stringContaining('operator rights')]);
  await member.page.goto(`${url}/settings/tokens?create=true`);
  await expect.poll(() => member.page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT');
  expect(await member.page.getByText('All developers').count()).toBe(0);
});
