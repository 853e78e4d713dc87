import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { connected } from '../../../testing/mcp-client.ts';
import { gitHubApp } from '../../../testing/scenes/pulls.ts';
import { until } from '../../../testing/until.ts';

const WORDS = { title: 'Add the thing', description: 'It was missing.' };

test('a coding agent creates a pull request for its own branch, and later calls push more commits to it [review.pr.shape] [review.pr.own-branch] [review.pr.base-default] [review.pr.repository-detected] [review.pr.number-stored] [review.pr.status] [review.pr.event] [review.pr.coding-own]', async () => {
  const t = await gitHubApp();
  t.repository.git(['branch', 'release']);
  t.repository.git(['push', '--quiet', 'origin', 'release']);
  const coding = await t.coding({ base_branch: 'release' });
  const other = await t.coding({ issue: 8 });
  writeFileSync(join(coding.worktree_path, 'draft.txt'), 'not committed');
  const url = 'https://github.com/acme/app/pull/1';
  const answer = await t.ok('create_pull_request', WORDS, coding.id);
  expect(answer).toEqual({ pr_number: 1, pr_url: url, branch_name: coding.branch_name, not_included: '1 file(s) untracked' });
  expect(t.github.pulls).toEqual([
    { number: 1, title: WORDS.title, body: WORDS.description, head: coding.branch_name, base: 'main', state: 'open', merged_at: null },
  ]);
  expect(t.pushed(coding.branch_name)).toBe(t.repository.git(['rev-parse', coding.branch_name]));
  expect(await t.instance(coding.id)).toMatchObject({ status: 'pr_created', pr_number: 1, pr_url: url, step: null, step_data: null });
  expect(await t.instance(other.id)).toMatchObject({ status: 'started', pr_number: null });
  expect(t.pushed(other.branch_name)).toBe(null);

  const more = t.repository.commit('more.txt', 'more\n', coding.worktree_path);
  const again = await t.ok('create_pull_request', { title: 'Add both things', description: 'Both.' }, coding.id);
  expect([again.pr_number, t.pushed(coding.branch_name)]).toEqual([1, more]);
  expect(t.github.pulls).toMatchObject([{ number: 1, title: 'Add both things', body: 'Both.', state: 'open' }]);
  const made = { pr_number: 1, pr_url: url, branch: coding.branch_name, base: 'main', by: coding.id };
  expect((await t.events({ category: 'work' })).filter(({ kind }) => kind.startsWith('pull.'))).toMatchObject([
    { kind: 'pull.created', actor: `instance:${coding.id}`, subject: coding.id, payload: made },
    { kind: 'pull.updated', actor: `instance:${coding.id}`, subject: coding.id, payload: made },
  ]);
  expect((await t.events({ category: 'usage' })).filter(({ subject }) => subject === 'tool:create_pull_request')).toHaveLength(2);

  // The token is neither stored, nor logged, nor in the repository's configuration.
  const kept = [await t.events(), await t.instance(coding.id), t.logged, t.repository.git(['config', '--list'])];
  expect(JSON.stringify(kept)).not.toContain(t.github.token);
});

test('a review agent approves by creating the pull request for the work that it reviews [review.pr.review-approves] [review.pr.status]; neither agent can create issues [review.issues.planning-only]', async () => {
  const t = await gitHubApp();
  const coding = await t.coding();
  const reviewed = t.repository.git(['rev-parse', coding.branch_name]);
  const review = await t.review(coding.id);
  // This commit was not reviewed.
  t.repository.commit('later.txt', 'later\n', coding.worktree_path);
  expect(await t.refused('create_pull_request', WORDS, coding.id)).toMatchObject({ code: 'REVIEW_IN_PROGRESS', instance_id: coding.id });
  for (const { id } of [coding, review]) {
    expect(await t.refused('create_issues', { issues: [{ title: 'One', body: 'One.' }] }, id)).toMatchObject({ code: 'WRONG_AGENT_TYPE', instance_id: id });
  }
  expect(t.github.asked).toEqual([]);
  expect(await t.ok('create_pull_request', WORDS, review.id)).toMatchObject({
    pr_number: 1,
    branch_name: coding.branch_name,
    not_included: `commits after ${reviewed.slice(0, 12)}, the reviewed commit`,
  });
  expect(t.github.pulls).toMatchObject([{ head: coding.branch_name }]);
  expect([t.pushed(coding.branch_name), t.pushed(review.branch_name)]).toEqual([reviewed, null]);
  expect(await t.instance(coding.id)).toMatchObject({ status: 'pr_created', pr_number: 1, step: null, ended_at: null });
  expect(await t.instance(review.id)).toMatchObject({ status: 'terminated', pr_number: null, status_reason: 'approved: pull request #1' });
  expect(await t.relationships(coding.id)).toMatchObject([{ outcome: 'approved', ended_at: t.clock.now() }]);
  expect(await t.messages(coding.id)).toMatchObject([{ sender_id: review.agent_id, subject: `${review.id} approved your work: pull request #1` }]);
  // The reviewer gets its answer and ends; the coding agent stays for further messages.
  expect(await t.refused('create_pull_request', WORDS, review.id)).toMatchObject({ code: 'INVALID_STATE' });
  await t.later(10_000);
  expect(t.host.running.get(coding.id)?.typed).toEqual([expect.stringContaining('approved your work: pull request #1')]);
  expect([...t.host.running.keys()]).toEqual([coding.session_name]);
  expect(t.repository.onDisk()).toEqual([coding.id]);
  expect(t.github.pulls).toHaveLength(1);
});

test('a planning agent creates a pull request for its documents; create_pr is an alias of the same tool [review.pr.planning-documents] [review.surface.create-pr-alias]', async () => {
  const t = await gitHubApp();
  const planning = await t.coding({ type: 'planning', issue: undefined, prompt: 'Plan it.' });
  const { token } = await t.as(planning.id);
  const { url } = await t.serve();
  const client = await connected(`${url}/mcp/review`, token);
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect([names.includes('create_pull_request'), names.includes('create_pr')]).toEqual([true, false]);
  const made = await client.callTool({ name: 'create_pr', arguments: WORDS });
  expect(made).toMatchObject({ structuredContent: { pr_number: 1, branch_name: planning.branch_name } });
  expect(await t.instance(planning.id)).toMatchObject({ type: 'planning', status: 'pr_created', pr_number: 1 });
  const wrong = await client.callTool({ name: 'create_pr', arguments: { titel: 'x' } });
  expect(wrong).toMatchObject({ isError: true, structuredContent: { code: 'INVALID_INPUT', tool_name: 'create_pull_request', instance_id: planning.id } });

  // Even without the toolset, a grant for one of the two names enables the tool under both names.
  const { tokenId } = await t.as(planning.id);
  await t.done('capabilities.revoke', { action: 'toolset.review', token: tokenId });
  const denied = await t.tool('create_pull_request', WORDS, await t.as(planning.id));
  expect(JSON.stringify(denied.body)).toContain('tool.call.create_pr');
  await t.done('capabilities.grant', { action: 'tool.call.create_pr', instance: planning.id });
  for (const name of ['create_pr', 'create_pull_request']) expect((await t.tool(name, WORDS, await t.as(planning.id))).body).toMatchObject({ pr_number: 1 });
});

test('obstacles are reported before anything is pushed [review.pr.no-changes] [config.env.github-token]', async () => {
  const t = await gitHubApp();
  const coding = await t.coding();
  const { worktree_path: path, branch_name, id } = coding;
  const refused = async (args: object = {}) => await t.refused('create_pull_request', { ...WORDS, ...args }, id);

  for (const base_branch of ['--upload-pack=touch /tmp/x', '../x', 'a\nb', 'main:main', '@{-1}', 'refs/heads/../main']) {
    expect(await refused({ base_branch })).toMatchObject({ code: 'INVALID_INPUT', field: 'base_branch' });
  }
  expect(await refused({ base_branch: branch_name })).toMatchObject({ code: 'INVALID_INPUT', field: 'base_branch' });
  // Another branch whose name has this suffix exists.
  t.repository.git(['push', '--quiet', 'origin', 'main:release/next']);
  expect(await refused({ base_branch: 'next' })).toMatchObject({
    code: 'BASE_BRANCH_NOT_FOUND',
    suggestion: expect.stringContaining('"main", the default branch'),
  });
  for (const field of ['title', 'description']) expect(await refused({ [field]: undefined })).toMatchObject({ code: 'INVALID_INPUT', field });
  for (const title of ['two\nlines', '', 'x'.repeat(257)]) expect(await refused({ title })).toMatchObject({ code: 'INVALID_INPUT', field: 'title' });

  t.repository.git(['reset', '--quiet', '--hard', 'main'], path);
  t.repository.write('file-0.txt', 'changed', path);
  expect(await refused()).toMatchObject({ code: 'NO_CHANGES', suggestion: expect.stringContaining('1 file(s) changed but not committed') });
  t.repository.commit('file-0.txt', 'changed', path);

  const origin = (address: string) => t.repository.git(['config', 'remote.origin.url', address]);
  origin('https://someone:hunter2@gitlab.com/acme/app.git');
  const elsewhere = await refused();
  expect(elsewhere).toMatchObject({ code: 'ORIGIN_NOT_GITHUB', message: expect.stringContaining('gitlab.com/acme/app'), host: 'github.com' });
  expect(JSON.stringify(elsewhere)).not.toContain('hunter2');
  t.repository.git(['remote', 'remove', 'origin']);
  expect(await refused()).toMatchObject({ code: 'ORIGIN_MISSING', suggestion: expect.stringContaining('git remote add origin') });
  t.repository.git(['remote', 'add', 'origin', 'https://github.com/acme/app.git']);

  vi.stubEnv('GITHUB_TOKEN', '');
  const without = await t.another();
  const missing = { code: 'GITHUB_TOKEN_MISSING', recoverable: true, tool_name: 'create_pull_request', suggestion: expect.stringContaining('GITHUB_TOKEN') };
  expect(await without.refused('create_pull_request', WORDS, id)).toMatchObject(missing);
  vi.stubEnv('GITHUB_TOKEN', 'ghp_wrong');
  const wrong = await t.another();
  expect(t.pushed(branch_name)).toBe(null);
  expect(t.github.asked).toEqual([]);
  expect(await wrong.refused('create_pull_request', WORDS, id)).toMatchObject({
    code: 'GITHUB_UNAUTHORIZED',
    message: expect.stringContaining('Bad credentials'),
  });
  expect(await t.instance(id)).toMatchObject({ status: 'started', pr_number: null, step: null });
  expect(await t.ok('create_pull_request', { ...WORDS, title: '$(touch /tmp/x) `id` --force "; rm' }, id)).toMatchObject({ pr_number: 1 });
  expect(t.github.pulls).toMatchObject([{ title: '$(touch /tmp/x) `id` --force "; rm' }]);
});

test('a failure of git or GitHub leaves the instance unchanged; a pull request that exists already is recorded', async () => {
  const t = await gitHubApp();
  const coding = await t.coding();
  const { branch_name, id, worktree_path } = coding;
  const CREATE = 'POST /repos/{owner}/{repo}/pulls';
  const refused = async () => await t.refused('create_pull_request', WORDS, id);
  const asBefore = { status: 'started', pr_number: null, step: null, step_data: null };

  // Somebody pushed a commit to the branch that is missing here.
  t.repository.git(['push', '--quiet', 'origin', `main:${branch_name}`]);
  const foreign = t.repository.git(['commit-tree', '-m', 'theirs', '-p', 'main', 'main^{tree}']);
  t.repository.git(['push', '--quiet', 'origin', `${foreign}:refs/heads/${branch_name}`]);
  expect(await refused()).toMatchObject({ code: 'PUSH_REJECTED', suggestion: expect.stringContaining('git pull') });
  expect([t.pushed(branch_name), await t.instance(id)]).toMatchObject([foreign, asBefore]);
  t.repository.git(['push', '--quiet', '--delete', 'origin', branch_name]);

  const reset = Math.floor(t.clock.now() / 1_000) + 900;
  void t.github.failNext(CREATE, { with: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) } });
  expect(await refused()).toMatchObject({ code: 'GITHUB_RATE_LIMITED', retry_at: reset * 1_000 });
  void t.github.failNext(CREATE, { with: 403, message: 'Resource not accessible by personal access token' });
  expect(await refused()).toMatchObject({ code: 'GITHUB_FORBIDDEN', message: expect.stringContaining('Resource not accessible') });
  void t.github.failNext(CREATE, { with: 500 });
  expect(await refused()).toMatchObject({ code: 'GITHUB_FAILED' });
  expect(await t.instance(id)).toMatchObject(asBefore);
  expect(t.github.pulls).toEqual([]);
  expect((await t.events({ kind: 'pull.failed' })).map(({ subject }) => subject)).toEqual([id, id, id, id]);

  // GitHub created the pull request, but the answer was lost.
  void t.github.failNext(CREATE, { with: 'cut', done: true });
  expect(await t.ok('create_pull_request', WORDS, id)).toMatchObject({ pr_number: 1 });
  expect(t.github.pulls).toHaveLength(1);

  t.github.close(1);
  await t.later(61_000);
  await until(async () => expect(await t.instance(id)).toMatchObject({ status: 'pr_closed' }));
  t.repository.commit('more.txt', 'more', worktree_path);
  expect(await refused()).toMatchObject({ code: 'INVALID_STATE', pr_number: 1, suggestion: expect.stringContaining('reopen') });
});
