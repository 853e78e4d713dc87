import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryOnGitHub } from '../testing/pulls.ts';
import { runProgram } from './process.ts';
import { fetchBranch, originOf, pushBranch, remoteBranch, withPassword } from './remote.ts';

test('a branch is pushed to one of its name and never by force; each refusal is told apart', async () => {
  const { repository, origin } = repositoryOnGitHub();
  const { path } = repository;
  expect(await originOf(path)).toBe('https://github.com/acme/app.git');
  const base = repository.git(['rev-parse', 'main']);
  repository.git(['checkout', '--quiet', '-b', 'work/x']);
  const commit = repository.commit('a.txt', 'a');
  await pushBranch(path, 'work/x');
  expect([await remoteBranch(path, 'work/x'), await remoteBranch(path, 'x'), await remoteBranch(path, 'main')]).toEqual([commit, null, base]);

  repository.git(['commit', '--quiet', '--amend', '--message', 'otherwise']);
  await expect(pushBranch(path, 'work/x')).rejects.toMatchObject({ name: 'RemoteFailed', why: 'rejected', message: 'non-fast-forward' });
  expect(await remoteBranch(path, 'work/x')).toBe(commit);

  writeFileSync(join(origin, 'hooks/pre-receive'), '#!/bin/sh\necho "not on a Friday" >&2\nexit 1\n');
  chmodSync(join(origin, 'hooks/pre-receive'), 0o755);
  repository.git(['branch', 'work/y']);
  await expect(pushBranch(path, 'work/y')).rejects.toMatchObject({ why: 'refused', message: expect.stringContaining('not on a Friday') });

  // What only the remote has is brought here, and no branch moves by it.
  const theirs = repository.git(['commit-tree', '-m', 'theirs', '-p', base, `${base}^{tree}`], origin);
  repository.git(['update-ref', 'refs/heads/main', theirs], origin);
  await fetchBranch(path, 'main');
  expect([repository.git(['cat-file', '-t', theirs]), repository.git(['rev-parse', 'main'])]).toEqual(['commit', base]);

  repository.git(['remote', 'set-url', 'origin', 'https://someone:hunter2@127.0.0.1:1/acme/app.git']);
  const unreachable = await remoteBranch(path, 'main').catch((error: unknown) => error);
  expect(unreachable).toMatchObject({ why: 'unreachable' });
  expect(String(unreachable)).not.toContain('hunter2');
});

test('the token is given to git for the host of origin alone, and stands in no argument', async () => {
  const { repository } = repositoryOnGitHub();
  const token = `ghp_${"it's $(secret) \\n%s"}`;
  const asked = async (address: string, host: string) => {
    const env = {
      PATH: process.env.PATH,
      HOME: repository.path,
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: '',
      GIT_CONFIG_NOSYSTEM: '1',
      ...withPassword(address, token),
    };
    const ran = await runProgram('git', ['credential', 'fill'], {
      cwd: repository.path,
      env,
      timeoutMs: 10_000,
      maxOutputBytes: 10_000,
      input: `protocol=https\nhost=${host}\n\n`,
    });
    return ran.code === 0 ? ran.stdout : null;
  };
  expect(await asked('https://github.com/acme/app.git', 'github.com')).toContain(`username=x-access-token\npassword=${token}\n`);
  expect(await asked('https://git.test:8443/acme/app.git', 'git.test:8443')).toContain(`password=${token}\n`);
  // However closely a repository's own configuration fits.
  for (const of of ['https://github.com/acme', 'https://github.com/acme/app.git']) repository.git(['config', `http.${of}.sslVerify`, 'false']);
  const { GIT_CONFIG_COUNT: count, ...numbered } = withPassword('https://me:pw@github.com/acme/app.git', token);
  const verified = await runProgram('git', ['config', '--get-urlmatch', 'http.sslVerify', 'https://me@github.com/acme/app.git'], {
    cwd: repository.path,
    env: { PATH: process.env.PATH, GIT_CONFIG_COUNT: count, ...numbered },
    timeoutMs: 10_000,
    maxOutputBytes: 10_000,
  });
  expect(verified.stdout.trim()).toBe('true');
  expect([await asked('https://github.com/acme/app.git', 'evil.org'), await asked('https://git.test:8443/a/b', 'git.test')]).toEqual([null, null]);
  // Over ssh the user's own keys are meant; over plain http anybody could read it.
  for (const address of ['git@github.com:acme/app.git', 'ssh://git@github.com/acme/app', 'http://github.com/acme/app', '/srv/app.git']) {
    expect(withPassword(address, token)).toEqual({});
  }
});
