import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { testClock } from '../../src/testing/clock.ts';
import { direct } from '../../src/testing/programs/program.ts';
import { SAME_THUMBNAILS, type TeamApp, THUMBNAILS, teamApp } from '../../src/testing/scenes/team.ts';
import { isAccessible } from './axe.ts';
import { focused, live, openBrowser, signedIn } from './browser.ts';

openBrowser();

const cache = { ...THUMBNAILS, target_files: ['src/gallery/thumbnails.ts', 'src/gallery/cache.ts'] };
const sameCache = { ...cache, ...SAME_THUMBNAILS };

/** Opens the dashboard as Ana. `call` calls a tool as Ben's agent. */
async function anaAt(path: string, before: (team: TeamApp) => Promise<unknown> = async () => {}) {
  const team = await teamApp({ clock: testClock(Date.now()) });
  const agent = await team.developer('ben', 'codex');
  await before(team);
  const place = await signedIn(path, {}, team, 'ana');
  const call = async (tool: string, args: object) => (await direct(place.url, agent.token, tool, { ...args })).body as { data: Record<string, string> };
  await live(place.page);
  return { ...place, call };
}

const row = (page: Page, name: string | RegExp) => page.getByRole('row', { name });

describe('tasks', () => {
  test('[team.plan.on-dashboard] shows a task that an agent plans without a reload', async () => {
    const { page, call } = await anaAt('/tasks');
    await page.getByText('No open tasks.').waitFor();
    await page.getByRole('button', { name: `Copy npm exec -- covibe-local setup --base-url ${new URL(page.url()).origin}` }).waitFor();
    expect(await page.getByRole('link', { name: 'Agent setup' }).getAttribute('href')).toBe('/settings/agents');
    await call('covibe_task', { operation: 'plan', ...cache });
    await row(page, /Cache thumbnail images in the gallery.*planned.*codex@ben.*feature.*2 files/).waitFor({ timeout: 5_000 });
    expect(await page.getByRole('button', { name: /^Cancel / }).count()).toBe(0);
  });

  test('keeps the filter in the address across a reload, and opens a row beside the list', async () => {
    const { page } = await anaAt('/tasks', async (team) => {
      await team.planned({ title: 'Write the manual', scope: 'How to install it' });
      await team.started(cache, team.ben);
    });
    await expect.poll(() => page.getByRole('table').locator('tbody tr').count()).toBe(2);
    await page.getByLabel('Status').selectOption('planned');
    await page.waitForURL('**/tasks?status=planned');
    await page.reload();
    await row(page, /Write the manual/).waitFor();
    expect(await row(page, /Cache thumbnail/).count()).toBe(0);
    await page.getByRole('link', { name: 'Write the manual' }).click();
    const panel = page.getByRole('dialog', { name: 'Write the manual' });
    await panel.getByText('How to install it').waitFor();
    await page.reload();
    await panel.waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await panel.waitFor({ state: 'detached' });
    await page.waitForURL('**/tasks?status=planned');
    await page.getByLabel('Status').selectOption('blocked');
    await page.getByText('No blocked tasks.').waitFor();
  });

  test('the panel follows the selected row, and closing the panel focuses the last row', async () => {
    const { page } = await anaAt('/tasks', async (team) => {
      await team.planned({ title: 'Write the manual' });
      await team.planned({ title: 'Draw a map' });
    });
    await page.getByRole('link', { name: 'Write the manual' }).click();
    await page.getByRole('dialog', { name: 'Write the manual' }).waitFor();
    await page.getByRole('link', { name: 'Draw a map' }).click();
    await page.getByRole('dialog', { name: 'Draw a map' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Draw a map');
  });

  test('plans a task by keyboard and restores the focus', async () => {
    const { page, t } = await anaAt('/tasks');
    await page.getByRole('button', { name: 'Plan work' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Plan work' }).waitFor();
    await page.keyboard.type('Write the manual');
    await page.keyboard.press('Enter');
    await row(page, /Write the manual.*planned.*ana/).waitFor();
    await page.getByRole('status').filter({ hasText: 'Planned “Write the manual”.' }).waitFor();
    expect(await focused(page)).toBe('Plan');
    const [event] = await t.events({ kind: 'task.planned' });
    expect(event?.actor).toBe(`developer:${t.ana.principal.developerId}`);
  });

  test('stores a plan that resembles other work only after the candidates were shown and a reason was given', async () => {
    const { page, t } = await anaAt('/tasks', (team) => team.started(cache, team.ben));
    await page.getByRole('button', { name: 'Plan work' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill(sameCache.title);
    await dialog.getByLabel('Type').selectOption('feature');
    await dialog.getByLabel('Scope').fill(sameCache.scope);
    await dialog.getByLabel('Files').fill(`${sameCache.target_files.join('\n')}\n`);
    await dialog.getByRole('button', { name: 'Plan', exact: true }).click();

    await dialog.getByRole('alert').filter({ hasText: 'Nothing is planned yet.' }).waitFor();
    const candidate = dialog.getByRole('listitem').filter({ hasText: cache.title });
    for (const text of ['ben', cache.scope, '2 shared files', 'same files: src/gallery/thumbnails.ts', /threshold \d/]) {
      await candidate.getByText(text).first().waitFor();
    }
    // The candidate must open in a new tab, so that the draft is not lost.
    expect(await candidate.getByRole('link', { name: cache.title }).getAttribute('target')).toBe('_blank');
    expect(await candidate.getByText(/^Score \d+\.\d/).count()).toBe(1);
    expect(await t.events({ kind: 'task.planned' })).toEqual([]);

    await dialog.getByRole('button', { name: 'Back' }).click();
    expect(await dialog.getByLabel('Title').inputValue()).toBe(sameCache.title);
    await dialog.getByRole('button', { name: 'Plan', exact: true }).click();
    const confirm = dialog.getByRole('button', { name: 'Plan anyway' });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel('Reason').fill('Theirs is for the server');
    await isAccessible(page);
    await confirm.click();
    await row(page, new RegExp(`${sameCache.title}.*planned.*1 resolved overlap`)).waitFor();
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    const pair = page.getByRole('dialog', { name: sameCache.title });
    await pair.getByText('Theirs is for the server').waitFor();
    await pair.getByText('confirmed').waitFor();
  });

  test('shows the message of the server in the dialog if it refuses the plan', async () => {
    const { page } = await anaAt('/tasks');
    await page.getByRole('button', { name: 'Plan work' }).click();
    await page.getByLabel('Title').fill('Write the manual');
    await page.getByLabel('Files').fill('../secrets');
    await page.getByRole('button', { name: 'Plan', exact: true }).click();
    const problem = page.getByRole('alert').filter({ hasText: 'The work was not planned.' });
    expect(await problem.innerText()).toMatch(/target_files.*relative to the repository[\s\S]*INVALID_INPUT/);
  });

  test('lets a person cancel their own open task with a reason, but no tasks of others', async () => {
    const { page, t } = await anaAt('/tasks', async (team) => {
      await team.planned({ title: 'Write the manual' });
      await team.planned({ title: 'Draw a map' });
      await team.planned(cache, team.ben);
    });
    await row(page, /Cache thumbnail/).waitFor();
    expect(await page.getByRole('button', { name: `Cancel ${cache.title}` }).count()).toBe(0);
    await page.getByRole('button', { name: 'Cancel Write the manual' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel this task?' });
    expect(await dialog.getByRole('button', { name: 'Cancel task' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Reason').fill('The old one will do');
    await dialog.getByRole('button', { name: 'Cancel task' }).click();
    await row(page, /Write the manual/).waitFor({ state: 'detached' });
    expect((await t.events({ kind: 'task.cancelled' })).map(({ payload }) => payload)).toMatchObject([{ reason: 'The old one will do' }]);
    await page.getByRole('link', { name: 'Draw a map' }).click();
    await page.getByRole('dialog', { name: 'Draw a map' }).getByRole('button', { name: 'Cancel task' }).click();
    await dialog.getByLabel('Reason').fill('Nobody reads maps');
    await dialog.getByRole('button', { name: 'Cancel task' }).click();
    await row(page, /Draw a map/).waitFor({ state: 'detached' });
    // Wait, because the list may change before the answer closes the dialog and the panel.
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Tasks');
    await page.getByLabel('Status').selectOption('cancelled');
    await page.getByRole('link', { name: 'Write the manual' }).click();
    await page.getByRole('dialog').getByText('The old one will do').waitFor();
  });

  test('loads tasks by page, on request and by address, and keeps few rows in the DOM', async () => {
    const { page } = await anaAt('/tasks', async (team) => {
      const first = await team.app.store.reader
        .selectFrom('tasks')
        .selectAll()
        .where('id', '=', await team.planned({ title: 'Task' }))
        .executeTakeFirstOrThrow();
      await team.app.store.write(first.workspace_id, async (tx) => {
        for (let hundred = 0; hundred < 9; hundred++) {
          const numbers = Array.from({ length: 100 }, (_, index) => hundred * 100 + index + 1);
          const rows = numbers.map((number) => ({ ...first, id: `task_${number}`, title: `Task ${number}`, updated_at: first.updated_at + number }));
          await tx.db.insertInto('tasks').values(rows).execute();
        }
      });
    });
    await page.getByText('901 open tasks').waitFor();
    const rows = page.getByRole('table').locator('tbody tr[data-row]');
    await expect.poll(() => rows.count()).toBe(50);
    for (let pages = 1; pages <= 5; pages++) {
      await page.getByRole('button', { name: 'Show more tasks' }).click();
      await page.locator(`table[aria-rowcount="${50 + pages * 150 + 1}"]`).waitFor();
      expect(await rows.count()).toBeLessThanOrEqual(80);
    }
    await page.getByRole('link', { name: 'Older tasks' }).click();
    await page.waitForURL(/before=.*task_101/);
    await row(page, /^Task 100 /).waitFor();
    await page.getByText('901 open tasks').waitFor();
    await page.getByRole('link', { name: 'Back to newest' }).click();
    await row(page, /^Task 900 /).waitFor();
  });

  test('keeps the scroll position: updates rows in place and holds new rows back', async () => {
    const ids: string[] = [];
    const { page, t } = await anaAt('/tasks', async (team) => {
      for (let number = 1; number <= 40; number++) ids.push(await team.planned({ title: `Task ${number}` }));
    });
    const titles = () => page.getByRole('table').locator('tbody td:first-child').allInnerTexts();
    await expect.poll(titles).toHaveLength(40);
    const before = await titles();
    await page.mouse.wheel(0, 400);
    await page.waitForFunction(() => scrollY > 80);
    t.clock.advance(1_000);
    await t.task('cancel', { task_id: ids[19], reason: 'old' });
    await t.task('update', { task_id: ids[9], title: 'Task ten' });
    await t.planned({ title: 'Write the manual' });
    await page.getByRole('button', { name: 'Paused · 1 new · Resume' }).waitFor();
    expect(await titles()).toEqual(before.filter((title) => title !== 'Task 20').map((title) => (title === 'Task 10' ? 'Task ten' : title)));
    await page.getByRole('button', { name: 'Paused · 1 new · Resume' }).click();
    await expect.poll(async () => (await titles()).slice(0, 2).sort()).toEqual(['Task ten', 'Write the manual']);
  });

  test('shows why tasks cannot be loaded, and loads them on Retry', async () => {
    const { page } = await anaAt('/tasks', (team) => team.planned(cache));
    await row(page, /Cache thumbnail/).waitFor();
    const refusal = { code: 'INTERNAL', message: 'The disk is full.', recoverable: false, suggestion: 'Make room.' };
    await page.route('**/api/actions/tasks.list', (route) => route.fulfill({ status: 500, json: refusal }));
    await page.reload();
    const problem = page.getByRole('alert').filter({ hasText: 'The disk is full. Make room.' });
    await problem.waitFor();
    await page.unroute('**/api/actions/tasks.list');
    await problem.getByRole('button', { name: 'Retry' }).click();
    await row(page, /Cache thumbnail/).waitFor();
  });
});

describe('overlaps', () => {
  test('opens a pair side by side with shared files and verdict', async () => {
    const { page } = await anaAt('/tasks/overlaps', async (team) => {
      await team.started(cache, team.ben);
      await team.started(sameCache);
    });
    const opened = page.getByRole('link', { name: new RegExp(`${sameCache.title}.*against.*${cache.title}`) });
    await row(page, /ana against ben: .*above the threshold of \d.*escalated.*distinct.*ana.*same files/).waitFor();
    await opened.focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('dialog', { name: sameCache.title });
    for (const text of ['This task', cache.scope, '2 shared files', 'src/gallery/cache.ts', 'different work', /floor \d/]) {
      await panel.getByText(text).last().waitFor();
    }
    await page.waitForURL('**/tasks/overlaps?warning=warn_*');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    expect(await opened.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  test('shows a new overlap live, and filters resolved ones', async () => {
    const { page, call, t } = await anaAt('/tasks/overlaps', (team) => team.started(cache, team.ana));
    await page.getByText('No overlaps yet.').waitFor();
    const { data } = await call('covibe_task', { operation: 'check', ...sameCache });
    await row(page, /ben against ana: .*escalated.*open/).waitFor({ timeout: 5_000 });
    await page.getByLabel('Status').selectOption('open');
    await page.waitForURL('**/tasks/overlaps?status=open');
    await t.call('covibe_warning', 'dismiss', { warning_id: data.warning_id, reason: 'not needed' }, t.ben);
    await page.getByText('No open overlaps.').waitFor();
  });
});

describe('week', () => {
  test('generates the weekly summary and copies it as Markdown', async () => {
    const { page, context } = await anaAt('/tasks/week', async (team) => {
      const done = await team.started({ title: 'Write the manual' });
      await team.task('complete', { task_id: done, result_summary: 'It has ten chapters' });
      await team.call('covibe_note', null, { kind: 'decision', title: 'We use SQLite' });
      await team.started(cache, team.ben);
      await team.started(sameCache, team.ben);
    });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Generate' }).click();
    const completed = page.getByRole('region', { name: 'Completed' });
    await completed.getByText('It has ten chapters').waitFor();
    await completed.getByText('1 work item').waitFor();
    await page.getByRole('region', { name: 'Decisions' }).getByText('We use SQLite').waitFor();
    await page.getByRole('region', { name: 'Active' }).getByText('2 tasks').waitFor();
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^# Week of[\s\S]*Write the manual/);
    await page.getByLabel('Period').selectOption('31');
    await page.waitForURL('**/tasks/week?days=31');
    await page.getByText('of the last 31 days').waitFor();
  });
});
