import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { testClock } from '../../src/testing/clock.ts';
import { direct } from '../../src/testing/programs/program.ts';
import { type Body, workflowApp } from '../../src/testing/scenes/workflow.ts';
import { isAccessible } from './axe.ts';
import { live, openBrowser, sideways, signedIn } from './browser.ts';

openBrowser();

const row = (page: Page, name: string | RegExp) => page.getByRole('row', { name });

/** Opens the dashboard as Ana. Ben's agents call over HTTP. */
async function anaAt(path = '/', options: Parameters<typeof signedIn>[1] = {}) {
  const app = await workflowApp({ clock: testClock(Date.now()) });
  const codex = await app.developer('ben', 'codex');
  const place = await signedIn(path, options, app, 'ana');
  await live(place.page);
  const call = async (tool: string, args: object, token = codex.token) => (await direct(place.url, token, tool, { ...args })).body as Body;
  return { ...place, app, codex, call, codexId: `codex@${codex.principal.developerId}` };
}

test('[use.first-run.page] shows the commands that connect an agent, and marks the step as done without a reload when an MCP client connects', async () => {
  const { page, url, t, errors } = await signedIn();
  await live(page);
  const steps = page.getByRole('region', { name: 'Connect your first agent' });
  await steps.getByRole('heading', { name: /^Connect an agent ?, to do/ }).waitFor();
  for (const [name, id] of Object.entries({ Codex: 'codex', Cursor: 'cursor', 'Gemini CLI': 'gemini', opencode: 'opencode', 'Claude Code': 'claude-code' })) {
    await steps.getByRole('button', { name, exact: true }).click();
    await steps.getByRole('button', { name: `Copy covenant connect ${id}` }).waitFor();
  }
  await steps.getByRole('button', { name: `Copy npm exec -- covibe-local setup --base-url ${url}` }).waitFor();
  await steps.getByText('Waiting for the first call. Restart Claude Code').waitFor();
  await isAccessible(page);
  const codex = await t.developer('mira', 'codex');
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${codex.token}` } } }));
  await client.callTool({ name: 'clock', arguments: {} });
  await steps.getByRole('heading', { name: /^Connect an agent ?, done/ }).waitFor();
  await steps.getByText('Connected: Codex.').waitFor();
  await steps.getByRole('heading', { name: /^Give it a task ?, to do/ }).waitFor();
  expect(await page.evaluate(() => performance.getEntriesByType('navigation').length)).toBe(1);
  await client.close();
  await page.goto(`${url}/settings/agents/codex`);
  await page.getByText('Codex is connected. Last call').waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  expect(errors).toEqual([]);
});

test('checks off the first steps without a reload, and opens the overlapping pair', async () => {
  const { page, app, call, errors } = await anaAt();
  const steps = page.getByRole('region', { name: 'Connect your first agent' });
  await steps.getByRole('heading', { name: /^See overlap detection ?, to do/ }).waitFor();
  await steps.getByRole('button', { name: /^Copy covenant connect (codex|claude-code)$/ }).waitFor();
  await isAccessible(page);
  const gemini = await app.developer('ana', 'gemini');
  const work = { title: 'Cache gallery thumbnails', task_type: 'feature', scope: 'Keep thumbnails on disk', target_files: ['src/gallery.ts'] };
  await call('covibe_task', { operation: 'check', ...work });
  await call('covibe_task', { operation: 'start', ...work });
  const same = { ...work, title: 'Store gallery thumbnails' };
  await call('covibe_task', { operation: 'check', ...same }, gemini.token);
  const blocked = await call('covibe_task', { operation: 'start', ...same }, gemini.token);
  expect(blocked.status).toBe('blocked');
  await steps.getByRole('heading', { name: /^See overlap detection ?, done/ }).waitFor();
  await row(page, /gemini@ana.*blocked/).waitFor();
  const waiting = page.getByRole('region', { name: 'What waits on you' });
  await waiting.getByText('“Store gallery thumbnails” looks like “Cache gallery thumbnails” by ben').waitFor();
  await waiting.getByRole('link', { name: /^Judge/ }).click();
  const panel = page.getByRole('dialog', { name: 'Store gallery thumbnails' });
  await panel.getByText(work.title).waitFor();
  await isAccessible(page);
  await panel.getByLabel('Reason').fill('Another gallery');
  const answer = Promise.withResolvers<void>();
  await page.route('**/api/actions/overlap.dismiss', async (route) => {
    const response = await route.fetch();
    await answer.promise;
    await route.fulfill({ response });
  });
  await panel.getByRole('button', { name: 'Dismiss', exact: true }).click();
  await page.getByText('Nothing waits on you.').waitFor();
  expect((await app.events({ kind: 'warning.dismissed' })).at(-1)?.payload).toMatchObject({ reason: 'Another gallery' });
  // If a person opens another page before the answer arrives, that page must stay open.
  await page.goBack();
  await panel.waitFor({ state: 'detached' });
  await steps.getByRole('link', { name: 'Compare work' }).click();
  await page.getByRole('dialog', { name: 'Store gallery thumbnails' }).waitFor();
  answer.resolve();
  await page.getByText(/^Dismissed\. If a check requires a verdict/).waitFor();
  expect(new URL(page.url()).pathname).toBe('/tasks/overlaps');
  await page.goBack();
  await steps.getByRole('button', { name: 'Hide', exact: true }).click();
  await steps.waitFor({ state: 'detached' });
  expect(errors).toEqual([]);
});

test('[session.stale.dashboard] derives working, quiet and stale from facts and the clock, and does not reload after read-only calls', async () => {
  const { page, app, call } = await anaAt();
  await page.clock.install();
  await page.reload();
  await live(page);
  await call('covibe_session', { operation: 'start', repo: 'shop', branch: 'main' });
  await row(page, /codex@ben.*working/).waitFor();
  await page.waitForTimeout(600); // longer than the page waits after an event before it reloads
  const read: string[] = [];
  page.on('request', (request) => request.url().includes('/api/actions/') && read.push(request.url()));
  await call('clock', {});
  await page.waitForTimeout(600);
  expect(read).toEqual([]);
  app.clock.advance(2 * 60_000);
  // The page polls, because no event reports that an agent has become silent.
  await page.clock.fastForward(16_000);
  await row(page, /codex@ben.*quiet/).waitFor();
  app.clock.advance(31 * 60_000);
  await page.clock.fastForward(16_000);
  await row(page, /codex@ben.*stale/).waitFor();
  await page.getByText('1 agent · 1 stale').waitFor();
});

test('leads from Now to the refusal in two clicks and shows its message and next step', async () => {
  const { page, app, call, codexId, errors } = await anaAt();
  await app.tool('covibe_coordination', { operation: 'claim', repo: 'shop', paths: ['src/a.ts'] }, app.ana);
  const block = await call('covibe_coordination', { operation: 'claim', repo: 'shop', paths: ['src/a.ts'] });
  await row(page, /codex@ben.*blocked/)
    .getByRole('link', { name: block.message })
    .click();
  const card = page.getByRole('article', { name: 'Refused: covibe_coordination.claim' });
  await card.getByText(block.message, { exact: true }).waitFor();
  await card.getByText(block.feedback.required_action, { exact: true }).waitFor();
  await card.getByText('Blocked by a rule').waitFor();
  const denied = await call('echo', { text: 'hi' });
  const second = page.getByRole('article', { name: 'Refused: echo' });
  await second.getByText(denied.message, { exact: true }).waitFor({ timeout: 20_000 });
  const command = await second.locator('code').filter({ hasText: 'covenant capabilities grant' }).innerText();
  expect(denied.feedback.required_action).toContain(command);
  expect(await second.getByRole('link', { name: 'Grant…' }).getAttribute('href')).toBe('/tools/grants?grant=new');
  await isAccessible(page);
  expect(decodeURIComponent(page.url())).toContain(`/agents/${codexId}`);
  await card.getByRole('link', { name: 'Open claims' }).click();
  await page.waitForURL('**/tasks/claims');
  expect(errors).toEqual([]);
});

test('shows a dead worker as lost with its last checkpoint and successor, counts claims before releasing them, and revokes a token by its id', async () => {
  const { page, app, codex, codexId, url, errors } = await anaAt();
  const { ids } = await app.planned(['Migrate <b>schema</b>', 'Rotate tokens']);
  const step = ids['Migrate <b>schema</b>'] as string;
  const { agent_id } = await app.started(step, codex);
  await app.ok('checkpoint_add', { task_id: step, agent_id, type: 'progress', summary: 'Half of the tables' }, codex);
  await row(page, /codex@ben.*working.*Migrate <b>schema<\/b>.*1 step/).waitFor();
  app.clock.advance(95_000);
  await row(page, /codex@ben.*lost/).waitFor();
  const news = page.getByRole('list', { name: 'News' });
  await news.getByText('Its agent went silent. Another agent can claim it.').waitFor();
  const gemini = await app.developer('ana', 'gemini');
  await app.claimed(step, gemini);
  const strip = page.getByRole('region', { name: 'Last 12 hours' });
  await strip.getByText('Last 12 hours as a table').click();
  await strip.getByRole('row', { name: /codex@ben Migrate <b>schema<\/b>.*lost, agent silent/ }).waitFor();
  await page.getByRole('cell', { name: 'codex@ben' }).getByRole('link').first().click();
  const work = page.getByRole('region', { name: 'Work, last 24 hours', exact: true });
  await work.getByText('Half of the tables').waitFor();
  await work.getByText('agent silent').waitFor();
  await work.getByRole('link', { name: 'gemini@ana' }).click();

  // Ana is the first developer, so she may release claims of other people.
  await page.getByRole('heading', { name: 'gemini@ana', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Release claims' }).click();
  const dialog = page.getByRole('dialog', { name: 'Release the claims of gemini@ana?' });
  await dialog.getByText('1 step becomes claimable, and 0 claims on code end.').waitFor();
  await dialog.getByText(`covenant agents release gemini@${gemini.principal.developerId}`).waitFor();
  await isAccessible(page);
  await dialog.getByRole('button', { name: 'Release', exact: true }).click();
  await page.getByText('Released 1 step and 0 claims of gemini@ana.').first().waitFor();
  await page.getByText('Nothing held.').waitFor();

  await page.goto(`${url}/agents/${codexId}`);
  await page.getByRole('button', { name: 'Revoke codex 1' }).click();
  const revoke = page.getByRole('button', { name: 'Revoke token' });
  expect(await revoke.isDisabled()).toBe(true);
  await page.getByLabel(`Type ${codex.tokenId} to confirm`).fill(codex.tokenId);
  await revoke.click();
  await page.getByText('Revoked codex 1.').first().waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  await isAccessible(page);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await page.goto(url);
  await row(page, /codex@ben/).waitFor();
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await isAccessible(page);
  // An agent is found by its name.
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('gemini@a');
  await page.getByRole('option', { name: /agent gemini@ana/ }).click();
  await page.getByRole('heading', { name: 'gemini@ana', level: 1 }).waitFor();
  await page.goto(`${url}/agents/nobody@dev_0`);
  await page.getByText('AGENT_NOT_FOUND').waitFor();
  // The error about the unknown agent is expected.
  expect(errors.filter((error) => !error.includes('404') && !error.includes('400'))).toEqual([]);
});
