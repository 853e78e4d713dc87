import { expect, test } from 'vitest';
import { dyingAfter, type GitHubApp, gitHubApp } from '../../../testing/scenes/pulls.ts';
import { until } from '../../../testing/until.ts';

const CREATE = 'POST /repos/{owner}/{repo}/issues';
const planner = (t: GitHubApp) => t.coding({ type: 'planning', issue: undefined, prompt: 'Plan it.' });
const issues = (...titles: string[]) => ({ issues: titles.map((title) => ({ title, body: `About ${title}.` })) });

test('a planning agent creates issues, and the answer lists the failed ones with their reasons [review.issues.shape] [review.issues.partial]', async () => {
  const t = await gitHubApp();
  const { id } = await planner(t);
  const hostile = '$(touch /tmp/x) <!-- `id` --';
  const made = await t.ok(
    'create_issues',
    {
      issues: [
        { title: 'One', body: 'First.', labels: ['bug', 'later'], assignees: ['octocat'] },
        { title: 'Two', body: '```\nnever closed', assignees: ['nobody-here'] },
        { title: hostile, body: hostile },
      ],
    },
    id,
  );
  expect(made).toEqual({
    created: [
      { index: 0, number: 1, url: 'https://github.com/acme/app/issues/1', title: 'One' },
      { index: 2, number: 2, url: 'https://github.com/acme/app/issues/2', title: hostile },
    ],
    failed: [{ index: 1, title: 'Two', message: expect.stringContaining('nobody-here') }],
  });
  const unmarked = t.github.issues.map((issue) => ({ ...issue, body: issue.body.replace(/^<!-- covenant:iss_\w+-\d -->\n\n/, '') }));
  expect(unmarked).toEqual([
    { number: 1, title: 'One', body: 'First.', labels: ['bug', 'later'], assignees: ['octocat'] },
    { number: 2, title: hostile, body: hostile, labels: [], assignees: [] },
  ]);
  expect(await t.events({ kind: 'issues.created' })).toMatchObject([{ subject: id, payload: { numbers: [1, 2], failed: 1 } }]);
  expect(await t.instance(id)).toMatchObject({ status: 'started', step: null, step_data: null });
  expect(await t.messages(id)).toEqual([]);

  // When GitHub limits requests, the server stops sending them, and the answer says when to try again.
  const before = t.github.asked.length;
  void t.github.failNext(CREATE, { with: 403, message: 'You have exceeded a secondary rate limit', headers: { 'retry-after': '120' } });
  const limited = await t.refused('create_issues', issues('Three', 'Four'), id);
  expect(limited).toMatchObject({ code: 'GITHUB_RATE_LIMITED', retry_at: t.clock.now() + 120_000, created: [], failed: [{ index: 0 }, { index: 1 }] });
  expect(limited.failed[1].message).toContain(`not tried: You have exceeded a secondary rate limit; try again at 2026-01-01T00:02:00.000Z`);
  expect(t.github.asked.length).toBe(before + 1);
  void t.github.failNext(CREATE, { with: 410, message: 'Issues are disabled for this repo' });
  expect(await t.refused('create_issues', issues('Three'), id)).toMatchObject({ code: 'GITHUB_NOT_FOUND', message: expect.stringContaining('disabled') });
  // GitHub created the issue, but its answer was lost.
  void t.github.failNext(CREATE, { with: 502, done: true });
  expect(await t.ok('create_issues', issues('Three'), id)).toMatchObject({ created: [{ number: 3 }], failed: [] });
  expect(t.github.issues).toHaveLength(3);
  t.repository.git(['remote', 'remove', 'origin']);
  expect(await t.refused('create_issues', issues('Four'), id)).toMatchObject({ code: 'ORIGIN_MISSING', tool_name: 'create_issues', instance_id: id });
});

test('if a server dies between two issues, another server creates each of the rest once and notifies the agent', async () => {
  // GitHub creates the second issue, but the server never gets the answer.
  const { hand, died } = dyingAfter('createIssue', 2);
  const t = await gitHubApp({ hand });
  const { id } = await planner(t);
  void t.tool('create_issues', issues('One', 'Two', 'Three', 'Four'), await t.as(id)).catch(() => {});
  await died;
  const app = await t.another();
  expect(await app.refused('create_issues', issues('Five'), id)).toMatchObject({ code: 'BUSY' });
  t.github.goAway();
  const taken = await app.instance(id);
  app.clock.advance(181_000);
  await until(async () => expect((await app.instance(id)).step_until).not.toBe(taken.step_until));
  t.github.comeBack();
  await app.later(181_000);
  expect(t.github.issues.map(({ title }) => title)).toEqual(['One', 'Two', 'Three', 'Four']);
  const [message] = await app.messages(id);
  expect(message).toMatchObject({
    subject: '4 of your issues were created, 0 failed',
    body: { created: [{ number: 1 }, { number: 2 }, { number: 3 }, { number: 4 }] },
  });
});
