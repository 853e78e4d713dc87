import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { testApp } from '../../src/testing/app.ts';
import { testClock } from '../../src/testing/clock.ts';
import { direct } from '../../src/testing/programs/program.ts';
import { live, openBrowser, openLink, signedIn, tab } from './browser.ts';

openBrowser();

/** Opens the dashboard as Mira, who has operator rights. Calls of Ben's agent wait for approval. */
async function miraAtNow(options: Parameters<typeof signedIn>[1] = {}) {
  const app = await testApp({ clock: testClock(Date.now()) });
  const place = await signedIn('/', options, app, 'mira');
  const ben = await app.developer('ben', 'codex');
  await app.done('capabilities.grant', { action: 'tool.call.echo', token: ben.tokenId, scope: { approve: true } });
  await live(place.page);
  const waiting = place.page.getByRole('region', { name: 'What waits on you' });
  const panel = place.page.getByRole('dialog');
  const decide = waiting.getByRole('link', { name: /^Decide: codex@ben wants to call the tool echo/ }).first();
  return { ...place, app, ben, waiting, panel, decide, call: (text: string) => direct(place.url, ben.token, 'echo', { text }) };
}

async function mcpClient(url: string, token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  onTestFinished(() => client.close());
  return client;
}

test('shows a held call without a reload; the call succeeds after approval and fails after rejection', async () => {
  const { page, url, ben, waiting, panel, decide, call, errors } = await miraAtNow();
  await page.getByText('Nothing waits on you.').waitFor();
  const client = await mcpClient(url, ben.token);
  const good = client.callTool({ name: 'echo', arguments: { text: 'Tag v2.0 and publish it.' } });
  await decide.waitFor({ timeout: 5_000 });
  await waiting.getByText(/^due in \d+ min$/).waitFor();
  await expect.poll(() => page.title(), { timeout: 10_000 }).toBe('(1) Now · Covenant');
  await decide.click();
  for (const text of ['"text": "Tag v2.0 and publish it."', 'tool echo', 'codex@ben', /expires in \d+ min/]) await panel.getByText(text).first().waitFor();
  expect(page.url()).toContain('?approval=apr_');
  // Delay the answer until the page has received the event.
  await page.route('**/api/actions/approvals.approve', async (route) => {
    const response = await route.fetch();
    await decide.waitFor({ state: 'detached' });
    await route.fulfill({ response });
  });
  await panel.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('Approved echo.').first().waitFor();
  expect(await good).toMatchObject({ isError: false, content: [{ text: 'Tag v2.0 and publish it.' }] });
  await page.getByText('Nothing waits on you.').waitFor();

  const bad = call('Drop the table.');
  await decide.click();
  await panel.getByText('Drop the table.').waitFor({ timeout: 5_000 });
  await panel.getByLabel('Reason for rejecting').fill('Not this table.');
  await panel.getByRole('button', { name: 'Reject', exact: true }).click();
  await page.getByText('Rejected echo.').first().waitFor();
  expect((await bad).body).toMatchObject({ status: 'error', data: { code: 'APPROVAL_REFUSED', reason: 'Not this table.' } });
  await expect.poll(() => page.title(), { timeout: 10_000 }).toBe('Now · Covenant');
  expect(errors).toEqual([]);
});

test('reports that another person decided first, and rejects without a reason', async () => {
  const { page, app, panel, decide, call } = await miraAtNow();
  const made = call('hi');
  await decide.click();
  await panel.getByRole('button', { name: 'Reject', exact: true }).waitFor();
  // Block the page's reads, so that the page does not show the other person's decision first.
  await page.route('**/api/actions/approvals.refuse', async (route) => {
    const { items } = (await app.done('approvals.list', {})) as { items: { approval_id: string }[] };
    await app.done('approvals.approve', { approval_id: items[0]?.approval_id });
    await route.continue();
  });
  await page.route('**/api/actions/waiting.list', (route) => route.abort());
  await panel.getByRole('button', { name: 'Reject', exact: true }).click();
  await panel.getByText('was approved by operator through api').waitFor();
  await panel.getByText('APPROVAL_CLOSED').waitFor();
  expect((await made).body).toMatchObject({ isError: false });
});

test('shows arguments as plain text, keeps the layout at 390 px, and opens a call by its address', async () => {
  const { page, app, panel, url, waiting, call } = await miraAtNow();
  await page.setViewportSize({ width: 390, height: 800 });
  const calls = [call(`<img src=x onerror=alert(1)> ${'a-very-long-word-'.repeat(40)}\u202Eabc`), call('ü'.repeat(40_000))];
  await expect.poll(() => waiting.getByRole('listitem').count(), { timeout: 10_000 }).toBe(2);
  const { items } = (await app.done('approvals.list', {})) as { items: { approval_id: string; arguments_cut: boolean }[] };
  for (const { approval_id, arguments_cut } of items) {
    await page.goto(`${url}/?approval=${approval_id}`);
    await panel.getByText(arguments_cut ? 'Truncated. Full size: 80,011 bytes.' : '[U+202E]abc').waitFor();
    expect(await panel.locator('img').count()).toBe(0);
    expect(await panel.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
    await app.done('approvals.refuse', { approval_id });
  }
  await Promise.all(calls);
});

test('shows no held calls and no errors to a member without operator rights', async () => {
  const { app, url, call } = await miraAtNow();
  const made = call('hi');
  const { path } = await app.done('signin.link', { developer: 'ben' });
  const { page, errors } = await tab();
  await openLink(page, url + String(path));
  await live(page);
  await page.getByText('Nothing waits on you.').waitFor();
  expect(errors).toEqual([]);
  const { items } = (await app.done('approvals.list', {})) as { items: { approval_id: string }[] };
  await app.done('approvals.refuse', { approval_id: items[0]?.approval_id });
  await made;
});
