import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { type FakeGitHub, fakeGitHub } from '../../testing/stand-ins/github.ts';
import { createGitHub, GitHubFailed } from './github.ts';

const AT = { owner: 'acme', repo: 'app' };
const WORDS = { title: 'Add it', body: 'It was missing.', base: 'main' };
const CREATE = 'POST /repos/{owner}/{repo}/pulls';
const NOW = Date.UTC(2026, 0, 1);

async function played(): Promise<FakeGitHub> {
  const fake = await fakeGitHub();
  onTestFinished(() => fake.stop());
  return fake;
}

test("creates, changes and finds pull requests and issues, with calls and answers that match GitHub's API description", async () => {
  const fake = await played();
  const github = createGitHub({ token: fake.token, baseUrl: `${fake.url}/` });
  const pull = await github.createPull(AT, 'work/x', WORDS);
  expect(pull).toEqual({ number: 1, url: 'https://github.com/acme/app/pull/1', base: 'main', state: 'open' });
  expect([await github.openPulls(AT, 'work/x'), await github.openPulls(AT, 'x'), await github.pull(AT, 1)]).toEqual([[pull], [], pull]);
  expect(await github.changePull(AT, 1, { ...WORDS, base: 'next' })).toEqual({ ...pull, base: 'next' });
  fake.close(1);
  expect([await github.pull(AT, 1), await github.openPulls(AT, 'work/x')]).toMatchObject([{ state: 'closed' }, []]);
  fake.merge(1);
  expect(await github.pull(AT, 1)).toMatchObject({ state: 'merged' });
  fake.issues.push(...Array.from({ length: 120 }, (_, at) => ({ number: at + 2, title: 'Before', body: 'x', labels: [], assignees: [] })));
  expect((await github.issuesSince(AT, NOW)).length).toBe(120);
  expect(await github.createIssue(AT, { title: 'Last', body: 'x', labels: ['bug'], assignees: ['octocat'] })).toMatchObject({ number: 122 });
});

test("the stand-in reports requests that GitHub's API description does not allow", async () => {
  const fake = await fakeGitHub();
  const ask = (path: string, init: RequestInit = {}) => fetch(`${fake.url}${path}`, { ...init, headers: { authorization: `token ${fake.token}` } });
  await ask('/repos/acme/app/pulls', { method: 'POST', body: JSON.stringify({ title: 7, head: 'x', base: 'main', colour: 'red' }) });
  await ask('/repos/acme/app/pulls?state=ajar');
  await ask('/repos/acme/app/hooks');
  expect(fake.problems).toEqual([
    expect.stringContaining('unknown fields colour'),
    expect.stringContaining('/title must be string'),
    expect.stringContaining('data/state must be equal to one of the allowed values'),
    expect.stringContaining('not an operation that is known here'),
  ]);
  await expect(fake.stop()).rejects.toThrow('not as GitHub describes it');
});

test("distinguishes every failure, in GitHub's words and without the token", async () => {
  const fake = await played();
  const github = createGitHub({ token: fake.token, baseUrl: fake.url, now: () => NOW });
  const failure = async (call: Promise<unknown> = github.createPull(AT, 'work/x', WORDS)): Promise<GitHubFailed> => {
    const error = await call.then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(GitHubFailed);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(fake.token);
    return error as GitHubFailed;
  };
  const next = async (answer: Parameters<FakeGitHub['failNext']>[1]) => {
    void fake.failNext(CREATE, answer);
    return await failure();
  };
  expect(await failure(createGitHub({ token: 'ghp_wrong', baseUrl: fake.url }).pull(AT, 1))).toMatchObject({ why: 'unauthorized', message: 'Bad credentials' });
  expect(await failure(createGitHub({ token: ' \n', baseUrl: fake.url }).pull(AT, 1))).toMatchObject({ why: 'token_missing' });
  // An error about an invalid header would quote the token.
  const twice = createGitHub({ token: `${fake.token}\n${fake.token}`, baseUrl: fake.url });
  expect(await failure(twice.pull(AT, 1))).toMatchObject({ why: 'unauthorized', message: expect.stringContaining('not allowed in a token') });
  expect(() => twice.gitAccess('https://github.com/acme/app')).toThrow('not allowed in a token');
  expect(await failure(createGitHub({ token: `${fake.token}\n`, baseUrl: fake.url }).pull(AT, 99))).toMatchObject({ why: 'not_found' });
  const open = createGitHub({ token: fake.token, baseUrl: fake.url.replace('//', '//someone:hunter2@') });
  expect((await failure(open.pull(AT, 1))).message).not.toContain('hunter2');
  expect(await failure(github.pull(AT, 99))).toMatchObject({ why: 'not_found', status: 404 });
  fake.hasBranch = () => false;
  expect(await failure()).toMatchObject({ why: 'invalid', message: 'Validation Failed: PullRequest head invalid', isUncertain: false });
  expect(await next({ with: 403, message: 'Resource not accessible' })).toMatchObject({ why: 'forbidden', retryAt: null, message: 'Resource not accessible' });
  expect(await next({ with: 403, headers: { 'retry-after': '30' } })).toMatchObject({ why: 'rate_limited', retryAt: NOW + 30_000 });
  const reset = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1_000 + 60) };
  expect(await next({ with: 429, headers: reset })).toMatchObject({ why: 'rate_limited', retryAt: NOW + 60_000 });
  expect(await next({ with: 403, message: 'You have exceeded a secondary rate limit' })).toMatchObject({ why: 'rate_limited', retryAt: NOW + 60_000 });
  expect(await next({ with: 502 })).toMatchObject({ why: 'failed', isUncertain: true });
  expect(await next({ with: 'cut' })).toMatchObject({ why: 'unreachable', isUncertain: true });
  void fake.failNext(CREATE, { with: 'silence' });
  const hasty = createGitHub({ token: fake.token, baseUrl: fake.url, timeoutMs: 100 });
  expect(await failure(hasty.createPull(AT, 'work/x', WORDS))).toMatchObject({ why: 'unreachable', message: 'GitHub did not answer in time' });
  // Nothing was retried.
  expect(fake.asked.filter((line) => line.startsWith('POST')).length).toBe(8);
});

test('recognizes only repositories on its own host', () => {
  const on = (baseUrl?: string, host?: string) => createGitHub({ token: 'x', baseUrl, host });
  const enterprise = on('https://git.example.org/api/v3');
  expect([on().host, enterprise.host, on('https://api.acme.ghe.com').host, on('http://127.0.0.1:9', 'git.test').host]).toEqual([
    'github.com',
    'git.example.org',
    'acme.ghe.com',
    'git.test',
  ]);
  for (const address of [
    'https://github.com/acme/app.git',
    'https://u:p@GitHub.com/acme/app',
    'git@github.com:acme/app.git',
    'ssh://git@ssh.github.com:443/acme/app',
  ]) {
    expect([on().repositoryAt(address), enterprise.repositoryAt(address)]).toEqual([AT, null]);
  }
  const others = [
    'https://github.com.evil.org/acme/app',
    'https://evil.org/github.com/acme/app',
    '/srv/app.git',
    'git@gitlab.com:acme/app.git',
    'https://github.com/app',
    'https://github.com/../user',
    'git@github.com:acme/..',
  ];
  for (const address of others) expect([address, on().repositoryAt(address)]).toEqual([address, null]);
});
