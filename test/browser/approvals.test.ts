import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { testApp } from '../../src/testing/app.ts';
import { testClock } from '../../src/testing/clock.ts';
import { direct } from '../../src/testing/program.ts';
import { live, openBrowser, sideways, signedIn, tab } from './house.ts';

openBrowser();

/** Mira, who has operator rights, at the dashboard; the calls of Ben's agent wait for a person. */
async function miraAtNow(options: Parameters<typeof signedIn>[1] = {}) {
  const app = await testApp({ clock: testClock(Date.now()) });
  const place = await signedIn('/', options, app, 'mira');
  const ben = await app.developer('ben', 'codex');
  await app.done('capabilities.grant', { action: 'tool.call.echo', token: ben.tokenId, scope: { approve: true } });
  await live(place.page);
  const region = place.page.getByRole('region', { name: 'Calls to approve' });
  return { ...place, app, ben, region, call: (text: string) => direct(place.url, ben.token, 'echo', { text }) };
}

async function mcpClient(url: string, token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  onTestFinished(() => client.close());
  return client;
}

test('a call of an agent shows without a reload, is approved in the page, and goes through; another is refused', async () => {
  const { page, url, ben, region, call, errors } = await miraAtNow();
  expect(await region.count()).toBe(0);
  const client = await mcpClient(url, ben.token);
  const good = client.callTool({ name: 'echo', arguments: { text: 'Tag v2.0 and publish it.' } });
  await region.getByText('"text": "Tag v2.0 and publish it."').waitFor({ timeout: 5_000 });
  for (const text of ['tool echo', 'codex@ben', '1 call', /until .*20\d\d/]) await region.getByText(text).first().waitFor();
  await expect.poll(() => page.title()).toBe('(1) Now · Covenant');
  await page.getByText('Nothing else waits on you.').waitFor();
  // The answer comes after the journal has told the page of it.
  await page.route('**/api/actions/approvals.approve', async (route) => {
    const response = await route.fetch();
    await region.waitFor({ state: 'detached' });
    await route.fulfill({ response });
  });
  await region.getByRole('button', { name: 'Approve' }).click();
  await region.getByText('Approved echo.').waitFor();
  expect(await good).toMatchObject({ isError: false, content: [{ text: 'Tag v2.0 and publish it.' }] });
  expect(await region.getByRole('listitem').count()).toBe(0);

  const bad = call('Drop the table.');
  await region.getByText('Drop the table.').waitFor({ timeout: 5_000 });
  await region.getByLabel('Reason for refusing').fill('Not this table.');
  await region.getByRole('button', { name: 'Refuse' }).click();
  await region.getByText('Refused echo.').waitFor();
  expect((await bad).body).toMatchObject({ status: 'error', data: { code: 'APPROVAL_REFUSED', reason: 'Not this table.' } });
  await expect.poll(() => page.title()).toBe('Now · Covenant');
  expect(errors).toEqual([]);
});

test('what somebody else decided meanwhile is said, and one without a reason needs none', async () => {
  const { page, app, region, call } = await miraAtNow();
  const made = call('hi');
  await region.getByRole('button', { name: 'Refuse' }).waitFor();
  // The page is held up, so that it does not hear of the other's decision first.
  await page.route('**/api/actions/approvals.refuse', async (route) => {
    const { items } = (await app.done('approvals.list', {})) as { items: { approval_id: string }[] };
    await app.done('approvals.approve', { approval_id: items[0]?.approval_id });
    await route.continue();
  });
  await page.route('**/api/actions/approvals.list', (route) => route.abort());
  await region.getByRole('button', { name: 'Refuse' }).click();
  await region.getByText('was approved by operator through api').waitFor();
  await region.getByText('APPROVAL_CLOSED').waitFor();
  expect((await made).body).toMatchObject({ isError: false });
});

test('arguments are text, whatever they look like, and break no layout at 390 px', async () => {
  const { page, app, region, call } = await miraAtNow();
  await page.setViewportSize({ width: 390, height: 800 });
  const calls = [call(`<img src=x onerror=alert(1)> ${'a-very-long-word-'.repeat(40)}\u202Eabc`), call('ü'.repeat(40_000))];
  await region.getByText('<img src=x').waitFor();
  await region.getByText('Only the beginning of 80011 bytes is shown.').waitFor();
  expect(await region.locator('img').count()).toBe(0);
  expect(await region.getByText('[U+202E]abc').count()).toBe(1);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  for (const { approval_id } of (await app.done('approvals.list', {})).items as { approval_id: string }[]) await app.done('approvals.refuse', { approval_id });
  await Promise.all(calls);
});

test('who has no operator rights is asked nothing and sees no failure', async () => {
  const { app, url, call } = await miraAtNow();
  const made = call('hi');
  const { path } = await app.done('signin.link', { developer: 'ben' });
  const { page, errors } = await tab();
  await page.goto(url + String(path));
  await live(page);
  await page.getByText('Nothing waits on you.').waitFor();
  expect(await page.getByRole('region', { name: 'Calls to approve' }).count()).toBe(0);
  expect(errors).toEqual([]);
  const { items } = (await app.done('approvals.list', {})) as { items: { approval_id: string }[] };
  await app.done('approvals.refuse', { approval_id: items[0]?.approval_id });
  await made;
});
