import { expect, test } from 'vitest';
import { testClock } from '../../src/testing/clock.ts';
import { instanceApp } from '../../src/testing/instances.ts';
import { live, openBrowser, sideways, signedIn } from './house.ts';

openBrowser();

test('an instance at its limit says so and what to do; its failed calls are there with where its branch stood; a person abandons it [review.limit.dashboard] [review.error.on-dashboard] [review.abandon.manual] [dashboard.instances.query]', async () => {
  const t = await instanceApp({ clock: testClock(Date.now()) });
  const { page, errors } = await signedIn('/reviews', {}, t, 'ana');
  await live(page);
  await page.getByRole('button', { name: /Copy covenant instances start/ }).waitFor();
  await t.done('settings.set', { key: 'review.max_iterations', value: 1 });
  const coding = await t.coding();
  const row = page.getByRole('row', { name: /work-7-a1 coding/ });
  await row.waitFor();
  const review = await t.review(coding.id);
  await page.getByRole('row', { name: /review-7-a1 reviews work-7-a1 review started/ }).waitFor();
  await t.ok('send_feedback', { feedback: 'Not <b>yet</b>.', feedback_type: 'needs_work', priority: 'high', actionable_items: ['Test it'] }, review.id);
  expect((await t.refused('request_review', {}, coding.id)).code).toBe('REVIEW_LIMIT_EXCEEDED');
  await page.getByRole('row', { name: /work-7-a1 coding started limit 1\/1 2 failed/ }).waitFor();

  await page.getByRole('link', { name: 'work-7-a1', exact: true }).click();
  const panel = page.getByRole('dialog', { name: 'work-7-a1' });
  await panel.getByText('Review limit reached: work-7-a1 has had 1 of 1 reviews, 2 failed.').waitFor();
  await panel.getByText('Create pull request with current work').waitFor();
  await panel.getByRole('region', { name: 'Reviews' }).getByText('review-7-a1 of work-7-a1').waitFor();
  const feedback = panel.getByRole('region', { name: 'Feedback' });
  await feedback.getByText('Not <b>yet</b>.').waitFor();
  await feedback.getByText('Test it').waitFor();
  const commit = t.repository.git(['rev-parse', coding.branch_name]);
  await panel
    .getByRole('region', { name: 'Failed calls' })
    .getByText(`on ${coding.branch_name} at ${commit.slice(0, 12)}`)
    .waitFor();
  expect(await sideways(page)).toBe(0);

  await panel.getByRole('button', { name: 'Abandon' }).click();
  const question = page.getByRole('dialog', { name: 'Abandon this instance?' });
  await question.getByLabel('Reason').fill('wrong way');
  await question.getByRole('button', { name: 'Abandon' }).click();
  await question.waitFor({ state: 'detached' });
  await panel.getByText(/wrong way/).waitFor();
  await panel.getByText(/its worktree is still there: .*commit/).waitFor();
  expect(await t.instance(coding.id)).toMatchObject({ status: 'abandoned' });
  expect(t.host.running.has(coding.id)).toBe(false);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await sideways(page)).toBe(0);
  expect(errors).toEqual([]);
});
