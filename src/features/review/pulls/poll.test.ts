import { expect, test } from 'vitest';
import { createGitHub } from '../../../machine/github/github.ts';
import { testClock } from '../../../testing/clock.ts';
import { gitHubApp } from '../../../testing/scenes/pulls.ts';
import { until } from '../../../testing/until.ts';
import type { InstanceOutside, InstancePorts } from '../instances/index.ts';
import { pollSweep } from './poll.ts';

const WORDS = { title: 'Add the thing', description: 'It was missing.' };
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const ONE = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';

test('polling detects that a pull request is closed, reopened or merged; after a merge, agent and worktree are removed [review.cleanup.finished] [review.instance.statuses]', async () => {
  const t = await gitHubApp();
  const { id } = await t.coding();
  await t.ok('create_pull_request', WORDS, id);
  const minuteLater = async (status: string) => {
    t.clock.advance(MINUTE);
    await until(async () => expect((await t.instance(id)).status).toBe(status));
  };
  t.github.close(1);
  await minuteLater('pr_closed');
  expect(await t.messages(id)).toMatchObject([{ subject: 'Your pull request #1 was closed without being merged' }]);
  t.github.reopen(1);
  await minuteLater('pr_created');
  t.github.merge(1);
  await minuteLater('pr_merged');
  await t.later(1);
  expect(await t.instance(id)).toMatchObject({ status: 'pr_merged', status_reason: 'pull request #1 was merged', kept_reason: null, step: null });
  expect([[...t.host.running.keys()], t.repository.onDisk(), t.repository.branches()]).toEqual([[], [], ['main']]);
  const kinds = (await t.events({ category: 'work' })).map(({ kind }) => kind).filter((kind) => kind.startsWith('pull.'));
  expect(kinds).toEqual(['pull.created', 'pull.closed', 'pull.reopened', 'pull.merged']);
});

test('GitHub is asked once a minute for each open pull request, and not while it limits requests or without a token', async () => {
  const t = await gitHubApp();
  for (const issue of [7, 8]) await t.ok('create_pull_request', WORDS, (await t.coding({ issue })).id);
  const { machine, id } = await t.instance('work-7-a1');
  // The clock of the server is stopped, so that only the sweep of this test asks GitHub.
  const clock = testClock();
  const services = { ...t.app, clock };
  const ports = { sendMessage: async () => '' } as unknown as InstancePorts;
  const sweepWith = (token: string | undefined) =>
    pollSweep(services, { machine, github: createGitHub({ token, baseUrl: t.github.url, now: () => clock.now() }) } as unknown as InstanceOutside, ports);
  const sweep = sweepWith(t.github.token);
  const after = async (ms: number): Promise<number[]> => {
    clock.advance(ms);
    const before = t.github.asked.length;
    await sweep.run();
    return t.github.asked.slice(before).map((line) => Number(/^GET \/repos\/acme\/app\/pulls\/(\d+)$/.exec(line)?.[1]));
  };
  expect([await after(0), await after(MINUTE / 2), await after(MINUTE / 2)]).toEqual([[1, 2], [], [1, 2]]);
  void t.github.failNext(ONE, { with: 429, headers: { 'retry-after': '300' } });
  expect([await after(MINUTE), await after(4 * MINUTE), await after(MINUTE)]).toEqual([[1], [], [2, 1]]);
  // A missing pull request does not prevent the checks of others, and is logged once.
  for (const _ of [1, 2]) {
    void t.github.failNext(ONE, { with: 404, message: 'Not Found' });
    expect(await after(MINUTE)).toEqual([1, 2]);
  }
  expect(t.logged.filter((line) => line.includes('could not check the pull request'))).toHaveLength(2);

  t.github.close(1);
  await after(MINUTE);
  expect(await t.instance(id)).toMatchObject({ status: 'pr_closed' });
  expect([await after(29 * DAY), await after(2 * DAY)]).toEqual([[1, 2], [2]]);
  const before = t.github.asked.length;
  await sweepWith(undefined).run();
  expect([t.github.asked.length, t.logged.filter((line) => line.includes('token_missing'))]).toEqual([before, []]);
});
