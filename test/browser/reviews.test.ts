import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Tmux } from '../../src/machine/agent-sessions/tmux.ts';
import { testClock } from '../../src/testing/clock.ts';
import { instanceApp } from '../../src/testing/scenes/instances.ts';
import { gitHubApp } from '../../src/testing/scenes/pulls.ts';
import { type PretendedHost, pretendedHost } from '../../src/testing/scenes/sessions.ts';
import { isAccessible } from './axe.ts';
import { live, openBrowser, sideways, signedIn } from './browser.ts';

openBrowser();

const PATIENTLY = { timeout: 15_000 };

const view = (page: Page, name: string) => page.getByRole('navigation', { name: 'Views of this instance' }).getByRole('link', { name }).click();

test('explains a review limit, allows one more round and undoes it, messages the agent, lists failed calls, and abandons the instance after counting unsaved work [review.limit.dashboard] [review.error.on-dashboard] [review.abandon.manual] [dashboard.instances.query]', async () => {
  const t = await instanceApp({ clock: testClock(Date.now()) });
  await t.developer('ana');
  await t.done('developers.set_run_agents', { developer: 'ana', allowed: true });
  const { page, errors } = await signedIn('/reviews', {}, t, 'ana');
  await live(page);
  await page.getByRole('button', { name: /Copy covenant instances start/ }).waitFor();
  await t.done('settings.set', { key: 'review.max_iterations', value: 1 });
  const coding = await t.coding();
  await page.getByRole('row', { name: /work-7-a1 coding started 0\/1 0\/5 work\/work-7-a1 \+1 −0 — tmux/ }).waitFor();
  const review = await t.review(coding.id);
  await page.getByRole('row', { name: /review-7-a1 reviews work-7-a1 review started 1 — review\/review-7-a1/ }).waitFor();
  await t.ok('send_feedback', { feedback: 'Not <b>yet</b>.', feedback_type: 'needs_work', priority: 'high', actionable_items: ['Test it'] }, review.id);
  expect((await t.refused('request_review', {}, coding.id)).code).toBe('REVIEW_LIMIT_EXCEEDED');
  await page.getByRole('row', { name: /work-7-a1 coding started limit 1\/1 2\/5/ }).waitFor();
  await isAccessible(page);

  await page.getByRole('link', { name: 'work-7-a1', exact: true }).click();
  await page.getByText('Review limit reached: 1 of 1 reviews used, 2 failed.').waitFor();
  await page.getByText('Create pull request with current work').waitFor();
  const rail = page.getByRole('list', { name: 'Rounds' }).getByRole('listitem');
  await rail.filter({ hasText: /Round 1.*needs work.*review-7-a1/ }).waitFor();
  await rail.filter({ hasText: /Stopped at.*limit 1\/1/ }).waitFor();
  await page.getByRole('button', { name: 'Allow one more round' }).click();
  await rail.filter({ hasText: /Open.*1 round left/ }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await rail.filter({ hasText: /Stopped at.*limit 1\/1/ }).waitFor();

  await page.getByRole('button', { name: 'Message agent' }).click();
  const message = page.getByRole('dialog', { name: 'Message work-7-a1' });
  await message.getByLabel('Message', { exact: true }).fill("Don't <i>stop</i>");
  await message.getByText(`covenant instances message work-7-a1 --text='Don'\\''t <i>stop</i>'`).waitFor();
  await isAccessible(page);
  await page.keyboard.press('Tab');
  await message.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Sent to work-7-a1. The message is typed into its terminal').first().waitFor();
  expect((await t.messages(coding.id)).at(-1)).toMatchObject({ sender_id: 'human', body: "Don't <i>stop</i>" });

  await view(page, 'Feedback');
  const word = page.getByRole('article', { name: 'Round 1' });
  await word.getByText('Not <b>yet</b>.').waitFor();
  await word.getByText('Test it').waitFor();
  await view(page, 'History');
  await page
    .getByRole('table', { name: 'Rounds' })
    .getByRole('row', { name: /Round 1 review-7-a1 work-7-a1 needs work/ })
    .waitFor();
  const commit = t.repository.git(['rev-parse', coding.branch_name]).slice(0, 12);
  await page
    .getByRole('table', { name: 'Failed calls' })
    .getByRole('row', { name: new RegExp(`REVIEW_LIMIT_EXCEEDED ${coding.branch_name} at ${commit}`) })
    .waitFor();
  await page
    .getByRole('table', { name: /Events about/ })
    .getByRole('row', { name: /instance\.review_withdrawn/ })
    .waitFor();
  await isAccessible(page);

  t.repository.write('new.txt', 'x\n', coding.worktree_path);
  await page.getByRole('button', { name: 'Abandon' }).click();
  const question = page.getByRole('dialog', { name: 'Abandon this instance?' });
  await question.getByText(/^1 uncommitted file, \d+ unpushed commits?\.$/).waitFor();
  await question.getByText(/Its content is backed up as refs\/covenant\/backup\/work-7-a1/).waitFor();
  await question.getByLabel('Reason').fill('wrong way');
  await question.getByText("covenant instances abandon work-7-a1 --reason='wrong way'").waitFor();
  await isAccessible(page);
  await question.getByRole('button', { name: 'Abandon', exact: true }).click();
  await question.waitFor({ state: 'detached' });
  await page
    .getByText(/wrong way/)
    .first()
    .waitFor();
  await page.getByText(/kept: .*commit/).waitFor();
  expect(await t.instance(coding.id)).toMatchObject({ status: 'abandoned' });
  expect(t.host.running.has(coding.id)).toBe(false);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await sideways(page)).toBe(0);
  expect(errors).toEqual([]);
});

/** Returns a host with terminals that record their input and size. */
function hostWithTerminals(): { host: PretendedHost; typed: string[]; sizes: string[] } {
  const host = pretendedHost();
  const typed: string[] = [];
  const sizes: string[] = [];
  const tmux: Partial<Tmux> = {
    async view(name) {
      const session = host.running.get(name);
      const text = `\u001b[38;2;255;120;0mReady\u001b[0m <b>now</b>\n> ${typed.join('')}\n`;
      return session ? { columns: 80, rows: 24, pid: session.pid, ended: session.state === 'ended', cursor: { column: 2, row: 1 }, text } : null;
    },
    send: async (_name, text) => void typed.push(text),
    resize: async (_name, { columns, rows }) => void sizes.push(`${columns}x${rows}`),
    attachArgs: (name) => ['-S', '/s', 'attach-session', '-t', name],
  };
  return { host: { ...host, tmux: async () => tmux as Tmux }, typed, sizes };
}

test('shows the terminal live under the content policy, accepts input only when enabled, offers the screen as text, reconnects, and shows the diff by file', async () => {
  const { host, typed, sizes } = hostWithTerminals();
  const t = await instanceApp({ clock: testClock(Date.now()), host });
  await t.developer('ana');
  await t.done('developers.set_run_agents', { developer: 'ana', allowed: true });
  const { id, worktree_path: worktree } = await t.coding();
  const { page, way, errors } = await signedIn(`/reviews/${id}`, {}, t, 'ana');
  const screen = page.getByRole('region', { name: `Screen of ${id}` });
  await screen.getByText('Ready').waitFor();
  // The terminal library writes a colour that is not in its palette as a style.
  expect(await screen.getByText('Ready').evaluate((element) => getComputedStyle(element).color)).toBe('rgb(255, 120, 0)');
  await page.getByText('read-only').waitFor();
  await screen.click();
  await page.keyboard.type('nobody hears this');
  await page.getByRole('button', { name: 'Enable typing' }).click();
  await page.getByText('typing enabled').waitFor();
  await page.getByText(/Your input goes directly to the agent/).waitFor();
  await page.keyboard.type('ls');
  await screen.getByText('> ls').waitFor();
  await expect.poll(() => sizes.length, PATIENTLY).toBeGreaterThan(0);
  expect(typed).toEqual(['l', 's']);
  expect((await t.events({ kind: 'instance.terminal_opened' })).map(({ subject }) => subject)).toEqual([id]);
  await isAccessible(page);
  await page.keyboard.press('Control+]');
  await page.keyboard.press('Enter');
  await page.getByText('read-only').waitFor();

  await page.getByRole('button', { name: 'Show as text' }).click();
  const text = page.getByRole('region', { name: `Screen of ${id} as text` });
  await text.getByText('Ready <b>now</b>').waitFor();
  expect(new URL(page.url()).searchParams.get('text')).toBe('true');
  await way.cut();
  await page.getByText('reconnecting').waitFor();
  await way.mend();
  await page.getByRole('region', { name: 'Terminal' }).getByText('live').waitFor();
  typed.push(' -l');
  await text.getByText('> ls -l').waitFor();

  t.repository.write('src/app/login.ts', `const \u202Ea = '<img src=x onerror=alert(1)>';\n${'x'.repeat(3_000)}\n`, worktree);
  t.repository.write('src/large.ts', 'line\n'.repeat(2_000), worktree);
  writeFileSync(join(worktree, 'picture.bin'), Buffer.from([1, 0, 2]));
  await view(page, 'Diff');
  await page.getByText(/^4 files \+2,003 −0 in the worktree, against main at [0-9a-f]{12}; 3 uncommitted files\.$/).waitFor();
  await page.getByRole('table', { name: 'Changed lines of src/app/login.ts' }).getByText(`const [U+202E]a = '<img src=x onerror=alert(1)>';`).waitFor();
  await page.getByText('… 1,000 characters more').waitFor();
  const files = page.getByRole('navigation', { name: 'Changed files' });
  await files.getByRole('link', { name: /large\.ts added uncommitted \+2,000 −0/ }).click();
  await page.getByRole('button', { name: 'Show 2,000 changed lines' }).click();
  const lines = page.getByRole('table', { name: 'Changed lines of src/large.ts' }).getByRole('row');
  await expect.poll(() => lines.count(), PATIENTLY).toBe(501);
  await page.getByRole('button', { name: 'Show more of 2,001 lines' }).click();
  await expect.poll(() => lines.count(), PATIENTLY).toBe(1_001);
  await page.goto(`${way.url}/reviews/${id}/diff?path=picture.bin`);
  await page.getByText('Binary file.').waitFor();
  await isAccessible(page);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await sideways(page)).toBe(0);
  // Errors about the connection are expected, because the test cuts it.
  expect(errors.filter((error) => !/WebSocket|ERR_/.test(error))).toEqual([]);
});

test('updates the page live after request_review, send_feedback and create_pull_request, and reloads nothing after a call that changes no status [dashboard.live.status-tools] [dashboard.live.rerender] [dashboard.live.non-status-quiet]', async () => {
  const t = await gitHubApp({ clock: testClock(Date.now()) });
  const { id } = await t.coding();
  const { page, errors } = await signedIn('/reviews', {}, t, 'ana');
  const told: string[] = [];
  let reads = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/api/actions/instances.list')) reads++;
  });
  page.on('websocket', (socket) => {
    socket.on('framereceived', ({ payload }) => told.push((JSON.parse(String(payload)) as { kind: string }).kind));
  });
  await page.reload();
  await live(page);
  const row = (status: string) => page.getByRole('row', { name: new RegExp(`^${id} coding ${status}`) }).waitFor();
  await row('started');
  const review = await t.review(id);
  await row('waiting review');
  expect(told).toContain('instance.waiting_review');
  await t.ok('send_feedback', { feedback: 'Better.', feedback_type: 'suggestions' }, review.id);
  await row('started 1/3');
  expect(told).toContain('review.feedback');
  await t.ok('create_pull_request', { title: 'Do it', description: 'All of it', base_branch: 'main' }, id);
  await row('pr created 1/3');
  expect(told).toContain('pull.created');
  // The page must not have been reloaded.
  expect(await page.evaluate(() => performance.getEntriesByType('navigation').length)).toBe(1);

  await page.waitForTimeout(600);
  const before = { reads, told: told.length };
  await t.ok('repository_list', {}, id);
  await expect.poll(() => told.slice(before.told), PATIENTLY).toContain('repository_list');
  await page.waitForTimeout(600);
  expect(reads).toBe(before.reads);
  expect(errors).toEqual([]);
});
