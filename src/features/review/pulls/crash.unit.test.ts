import { expect, test } from 'vitest';
import { type GitDisk, gitDisk } from '../../../machine/git/disk.ts';
import type { GitHub } from '../../../machine/github/github.ts';
import { dyingAfter, type GitHubApp, gitHubApp } from '../../../testing/scenes/pulls.ts';

const WORDS = { title: 'Add the thing', description: 'It was missing.' };
const CREATE = 'POST /repos/{owner}/{repo}/pulls';
const STEP_MS = 181_000;
const PATIENT = { timeout: 20_000 };

/** A server that dies after its push and never continues. */
function dyingAtPush(): { disk: GitDisk; died: Promise<void> } {
  const { promise: died, resolve } = Promise.withResolvers<void>();
  const pushBranch: GitDisk['pushBranch'] = async (...args) => {
    await gitDisk.pushBranch(...args);
    resolve();
    return await new Promise<never>(() => {});
  };
  return { disk: { ...gitDisk, pushBranch }, died };
}

const call = async (t: GitHubApp, id: string) => void t.tool('create_pull_request', WORDS, await t.as(id)).catch(() => {});

test('if a server dies after the push, the step ends, and the agent is notified and can call again', async () => {
  const { disk, died } = dyingAtPush();
  const t = await gitHubApp({ disk });
  const { id, branch_name } = await t.coding();
  await call(t, id);
  await died;
  const app = await t.another();
  expect(await app.refused('create_pull_request', WORDS, id)).toMatchObject({ code: 'BUSY' });
  await app.later(STEP_MS);
  expect(await app.instance(id)).toMatchObject({ status: 'started', pr_number: null, step_data: null });
  expect(await app.messages(id)).toMatchObject([{ subject: 'Your pull request was not created', body: expect.stringContaining('create_pull_request again') }]);
  expect([t.github.pulls, t.pushed(branch_name) === null]).toEqual([[], false]);
  expect(await app.ok('create_pull_request', WORDS, id)).toMatchObject({ pr_number: 1 });
});

test('if a server dies after GitHub created an approved pull request, another server records it, and the review ends once', async () => {
  const { hand, died } = dyingAfter('createPull');
  const t = await gitHubApp({ hand });
  const coding = await t.coding();
  const review = await t.review(coding.id);
  await call(t, review.id);
  await died;
  const app = await t.another();
  // GitHub is unreachable at first, so the server waits for its answer.
  t.github.goAway();
  const { step_until } = await app.instance(coding.id);
  app.clock.advance(STEP_MS);
  await expect.poll(async () => (await app.instance(coding.id)).step_until, PATIENT).not.toBe(step_until);
  t.github.comeBack();
  app.clock.advance(STEP_MS);
  await expect.poll(() => app.instance(coding.id), PATIENT).toMatchObject({ status: 'pr_created', pr_number: 1, step: null });
  expect(await app.relationships(coding.id)).toMatchObject([{ outcome: 'approved' }]);
  await app.later(10_000);
  expect(await app.instance(review.id)).toMatchObject({ status: 'terminated', step: null });
  expect([...t.host.running.keys()]).toEqual([coding.session_name]);
  expect(await app.events({ kind: 'pull.created' })).toHaveLength(1);
  expect(t.github.pulls).toHaveLength(1);
});

test('if GitHub created a pull request but is then unreachable, the server keeps asking and notifies the agent', async () => {
  const t = await gitHubApp();
  const { id } = await t.coding();
  const made = t.github.failNext(CREATE, { with: 'cut', done: true }).then(() => t.github.goAway());
  expect(await t.refused('create_pull_request', WORDS, id)).toMatchObject({ code: 'GITHUB_OUTCOME_UNKNOWN', suggestion: expect.stringContaining('message') });
  await made;
  expect(await t.refused('create_pull_request', WORDS, id)).toMatchObject({ code: 'BUSY' });
  t.github.comeBack();
  await t.later(1);
  expect(await t.instance(id)).toMatchObject({ status: 'pr_created', pr_number: 1 });
  expect(await t.messages(id)).toMatchObject([{ subject: 'Pull request #1 is open: https://github.com/acme/app/pull/1' }]);
});

test('a caller that disconnected is notified by message; a person can stop an instance at any time, and a pull request created by then is recorded', async () => {
  const meanwhile: { pushing?: () => unknown; asking?: () => unknown } = {};
  const pushBranch: GitDisk['pushBranch'] = async (...args) => {
    await gitDisk.pushBranch(...args);
    await meanwhile.pushing?.();
  };
  const hand = (real: GitHub): GitHub => {
    const after =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        const made = await call(...args);
        await meanwhile.asking?.();
        return made;
      };
    return { ...real, createPull: after(real.createPull), createIssue: after(real.createIssue) };
  };
  const t = await gitHubApp({ disk: { ...gitDisk, pushBranch }, hand });
  const { id } = await t.coding();
  t.repository.git(['config', 'remote.origin.url', 'https://someone:hunter2@github.com/acme/app.git']);
  const gone = new AbortController();
  meanwhile.pushing = async () => {
    gone.abort();
    expect(JSON.stringify([await t.instance(id), await t.events()])).not.toContain('hunter2');
  };
  const { principal } = await t.as(id);
  await t.app.dispatch.tool({ name: 'create_pull_request', args: WORDS, principal, surface: 'mcp', signal: gone.signal });
  expect(await t.messages(id)).toMatchObject([{ subject: 'Pull request #1 is open: https://github.com/acme/app/pull/1' }]);

  const pushed = await t.coding({ issue: 8 });
  meanwhile.pushing = () => t.done('instances.abandon', { instance_id: pushed.id });
  expect(await t.refused('create_pull_request', WORDS, pushed.id)).toMatchObject({ code: 'INVALID_STATE', message: expect.stringContaining('was stopped') });
  expect(await t.instance(pushed.id)).toMatchObject({ status: 'abandoned', pr_number: null, step: null });
  expect(t.github.pulls).toHaveLength(1);

  meanwhile.pushing = () => {};
  const opened = await t.coding({ issue: 9 });
  meanwhile.asking = () => t.done('instances.stop', { instance_id: opened.id });
  expect(await t.ok('create_pull_request', WORDS, opened.id)).toMatchObject({ pr_number: 2 });
  expect(await t.instance(opened.id)).toMatchObject({ status: 'terminated', pr_number: 2, step: null });

  const planning = await t.coding({ type: 'planning', issue: undefined, prompt: 'Plan it.' });
  meanwhile.asking = () => t.done('instances.stop', { instance_id: planning.id });
  const issues = ['One', 'Two'].map((title) => ({ title, body: title }));
  expect(await t.refused('create_issues', { issues }, planning.id)).toMatchObject({ code: 'BUSY' });
  expect(t.github.issues).toMatchObject([{ number: 3, title: 'One' }]);
  expect(await t.instance(planning.id)).toMatchObject({ status: 'terminated', step: null });
  expect(await t.events({ kind: 'issues.created' })).toMatchObject([{ subject: planning.id, payload: { numbers: [3], failed: 0 } }]);
  expect([...t.host.running.keys()]).toEqual([id]);
});
