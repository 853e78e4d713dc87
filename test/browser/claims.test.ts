import { expect, test } from 'vitest';
import { testClock } from '../../src/testing/clock.ts';
import { SAME_THUMBNAILS, type TeamApp, THUMBNAILS, teamApp } from '../../src/testing/scenes/team.ts';
import { isAccessible } from './axe.ts';
import { live, openBrowser, sideways, signedIn } from './browser.ts';

openBrowser();

/** Opens the dashboard as Ana, who has operator rights, or as Ben, who does not have them. */
async function at(path: string, who: 'ana' | 'ben', before: (team: TeamApp) => Promise<unknown>) {
  const team = await teamApp({ clock: testClock(Date.now()) });
  await before(team);
  const place = await signedIn(path, {}, team, who);
  await live(place.page);
  return place;
}

test('lists new claims live, and releases one after a dialog that states the consequence', async () => {
  const claim = (team: TeamApp, paths: string[], caller = team.ben) =>
    team.call('covibe_coordination', 'claim', { repo: 'github.com/acme/shop', paths, reason: 'Moving the gallery' }, caller);
  const { page, t, url, errors } = await at('/tasks/claims', 'ana', async () => {});
  await page.getByText('No live claims.').waitFor();
  const { data } = await claim(t, ['src/gallery/**', 'src/a.ts', 'src/b.ts', 'src/c.ts']);
  const row = page.getByRole('row', { name: /src\/gallery\/\*\*, src\/a.ts, src\/b.ts and 1 more.*exclusive.*ben.*in 59 m/ });
  await row.waitFor();
  await page.getByText('1 live claim, newest first').waitFor();
  await page.goto(`${url}/tasks/claims?repo=site`);
  await page.getByRole('link', { name: 'Show all live claims' }).click();
  await row.getByRole('link').first().focus();
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog', { name: 'Claim in github.com/acme/shop' });
  await panel.getByText('4 paths').waitFor();
  await panel.getByText('Moving the gallery').waitFor();
  await panel.getByRole('button', { name: 'Release claim' }).click();
  const question = page.getByRole('dialog', { name: 'Release this claim?' });
  await question.getByText('ben holds 4 paths of github.com/acme/shop (exclusive); the claim expires').waitFor();
  await question.getByText(`covenant claims release ${data.claim_id}`).waitFor();
  await isAccessible(page);
  // The list changes before the dialog closes, because the dialog waits until all visible data is loaded again.
  const heard = Promise.withResolvers<void>();
  await page.route('**/api/actions/claims.show', async (route) => {
    await heard.promise;
    await route.continue();
  });
  await question.getByRole('button', { name: 'Release claim', exact: true }).click();
  await page.getByText('No live claims.').waitFor();
  expect(await question.isVisible()).toBe(true);
  heard.resolve();
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Claims');
  expect((await t.events({ kind: 'claim.released' })).map(({ actor }) => actor)).toEqual([`developer:${t.ana.principal.developerId}`]);
  await page.goto(`${url}/tasks/claims?claim=${data.claim_id}`);
  await page.getByRole('dialog').getByText('released').waitFor();
  expect(await page.getByRole('dialog').getByRole('button', { name: 'Release claim' }).count()).toBe(0);
  await page.goto(`${url}/tasks/claims?claim=claim_nowhere`);
  await page.getByRole('alert').filter({ hasText: 'The claim could not be loaded.' }).waitFor();
  expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
});

test('shows a denied edit in the panel of its claim, in Activity and on the page of the agent', async () => {
  const { page, t, url, errors } = await at('/tasks/claims', 'ana', async () => {});
  const { data } = await t.call('covibe_coordination', 'claim', { repo: 'shop', paths: ['src/**'] }, t.ben);
  const codex = await t.developer('ana', 'codex');
  await t.tool('clock', {}, codex);
  await page.goto(`${url}/tasks/claims?claim=${data.claim_id}`);
  const panel = page.getByRole('dialog', { name: 'Claim in shop' });
  await panel.getByText('1 path').waitFor();
  await live(page);
  expect(await panel.getByText('Denied edits').count()).toBe(0);
  const payload = { claim_id: data.claim_id, path: 'src/<b>a.ts', client: 'codex', tool: 'apply_patch', outcome: 'denied' };
  await t.app.store.append(codex.principal.workspace, [
    { category: 'work', kind: 'edit.denied', actor: codex.principal.actor, subject: data.claim_id, payload },
  ]);
  const denied = panel.getByRole('region', { name: 'Denied edits' });
  await denied.getByText('src/<b>a.ts').waitFor();
  await denied.getByRole('link', { name: 'codex@ana' }).waitFor();
  await denied.getByText('Codex, apply_patch').waitFor();
  await isAccessible(page);
  await denied.getByRole('link', { name: /^Event/ }).click();
  const card = page.getByRole('article', { name: 'Refused: Edit of src/<b>a.ts' });
  await card.getByText('Codex, apply_patch: denied before the file was written').waitFor();
  await page.getByRole('row', { name: /edit\.denied.*codex@ana.*denied/ }).waitFor();
  await page.goto(`${url}/agents/codex@${codex.principal.developerId}`);
  await card.getByRole('link', { name: 'Open claim' }).click();
  await panel.getByText('1 path').waitFor();
  expect(errors).toEqual([]);
});

test('disables release for a member and says why, and lets them dismiss their own overlap with a reason', async () => {
  let own = '';
  const { page, url, t } = await at('/tasks/claims', 'ben', async (team) => {
    await team.call('covibe_coordination', 'claim', { repo: 'shop', paths: ['src'] }, team.ana);
    await team.started(THUMBNAILS);
    own = (await team.task('check', SAME_THUMBNAILS, team.ben)).data.warning_id;
  });
  const release = page.getByRole('button', { name: 'Release src' });
  expect(await release.isDisabled()).toBe(true);
  expect(await release.getAttribute('title')).toContain('operator');
  await page.goto(`${url}/tasks/overlaps?warning=${own}&status=open`);
  const panel = page.getByRole('dialog', { name: SAME_THUMBNAILS.title });
  await panel.getByText('No verdict yet.').waitFor();
  await panel.getByText('It stays in the journal with your reason.').waitFor();
  await panel.getByLabel('Reason').fill('We talked');
  await panel.getByText(`covenant overlap dismiss ${own} --reason='We talked'`).waitFor();
  await isAccessible(page);
  await panel.getByRole('button', { name: 'Dismiss', exact: true }).click();
  // The overlap disappears from the list of open overlaps, but its panel stays open.
  await page.getByText('No open overlaps.').waitFor();
  await panel.getByText('We talked').waitFor();
  expect(await panel.getByRole('button', { name: 'Dismiss' }).count()).toBe(0);
  expect((await t.events({ kind: 'warning.dismissed' })).map(({ payload }) => payload)).toEqual([{ automatic: false, reason: 'We talked' }]);
});

test('opens an unlisted task, a workstream, an owner filter, the plan form and the audit by their addresses', async () => {
  let [done, stream] = ['', ''];
  const { page, url, t } = await at('/tasks', 'ana', async (team) => {
    done = await team.started({ title: 'Write the manual' }, team.ben);
    await team.task('complete', { task_id: done, result_summary: 'It has ten chapters' }, team.ben);
    await team.started(THUMBNAILS, team.ben);
    await team.started(SAME_THUMBNAILS);
    stream =
      (await team.planned({ title: 'Draw a map' })) &&
      ((await team.app.store.reader.selectFrom('tasks').selectAll().where('title', '=', 'Draw a map').executeTakeFirstOrThrow()).workstream_id as string);
  });
  await page.getByText('3 open tasks, last changed first').waitFor();
  await page.getByRole('link', { name: '1 resolved overlap' }).click();
  await page.waitForURL('**/tasks/overlaps?subject=task_*');
  await expect.poll(() => page.getByRole('table').locator('tbody tr').count(), { timeout: 10_000 }).toBe(1);
  await page.getByText(`About ${SAME_THUMBNAILS.title}`).waitFor();

  await page.goto(`${url}/tasks?task=${done.slice(-8)}`);
  await page.getByRole('dialog', { name: 'Write the manual' }).getByText('It has ten chapters').waitFor();
  await page.goto(`${url}/tasks?owner=ben&status=all`);
  await page.getByText('2 tasks of ben').waitFor();
  await page.goto(`${url}/tasks?workstream=${stream}`);
  await page.getByRole('region', { name: 'Workstream' }).getByText('1 task, 1 open').waitFor();
  await expect.poll(() => page.getByRole('table').locator('tbody tr').count(), { timeout: 10_000 }).toBe(1);

  await page.goto(`${url}/tasks?plan=true`);
  const form = page.getByRole('dialog', { name: 'Plan work' });
  await form.getByLabel('Kind', { exact: true }).selectOption('workstream');
  await form.getByLabel('Title').fill('Accessibility of the shop');
  await form.getByRole('button', { name: 'Plan', exact: true }).click();
  await page.getByRole('link', { name: 'Open workstream' }).click();
  await page.getByRole('region', { name: 'Workstream' }).getByText('0 tasks, 0 open').waitFor();
  expect(await t.events({ kind: 'workstream.planned' })).toHaveLength(1);

  await page.goto(`${url}/tasks/overlaps?audit=true`);
  const audit = page.getByRole('button', { name: 'Run audit' });
  await audit.and(page.locator(':focus')).waitFor();
  await page.getByText('No audit yet.').waitFor();
  await page.keyboard.press('Enter');
  const conflict = page.getByRole('listitem').filter({ hasText: 'both active' });
  await conflict.getByText(THUMBNAILS.title).waitFor();
  await conflict.getByText(SAME_THUMBNAILS.title).waitFor();
  await isAccessible(page);
  await page.reload();
  await page.getByText('1 still open').waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.waitForURL('**/tasks/overlaps');
});
