import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ADDRESS, repositoryOnGitHub } from '../../testing/scenes/pulls.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { runGitProgram } from './git-program.ts';
import { fetchBranch, originOf, pushBranch, remoteBranch, withPassword } from './remote.ts';

const AT = { address: ADDRESS };

test('pushes a branch to the same name and never with force, and distinguishes each refusal', async () => {
  const { repository, origin } = repositoryOnGitHub();
  const { path } = repository;
  expect(await originOf(path)).toBe('https://github.com/acme/app.git');
  const base = repository.git(['rev-parse', 'main']);
  repository.git(['checkout', '--quiet', '-b', 'work/x']);
  const commit = repository.commit('a.txt', 'a');
  await pushBranch(path, 'work/x', AT);
  expect([await remoteBranch(path, 'work/x', AT), await remoteBranch(path, 'x', AT), await remoteBranch(path, 'main', AT)]).toEqual([commit, null, base]);

  repository.git(['commit', '--quiet', '--amend', '--message', 'otherwise']);
  await expect(pushBranch(path, 'work/x', AT)).rejects.toMatchObject({ name: 'RemoteFailed', why: 'rejected', message: 'non-fast-forward' });
  expect(await remoteBranch(path, 'work/x', AT)).toBe(commit);

  writeFileSync(join(origin, 'hooks/pre-receive'), '#!/bin/sh\necho "not on a Friday" >&2\nexit 1\n');
  chmodSync(join(origin, 'hooks/pre-receive'), 0o755);
  repository.git(['branch', 'work/y']);
  await expect(pushBranch(path, 'work/y', AT)).rejects.toMatchObject({ why: 'refused', message: expect.stringContaining('not on a Friday') });

  // Fetches what only the remote has, without moving a branch.
  const theirs = repository.git(['commit-tree', '-m', 'theirs', '-p', base, `${base}^{tree}`], origin);
  repository.git(['update-ref', 'refs/heads/main', theirs], origin);
  await fetchBranch(path, 'main', AT);
  expect([repository.git(['cat-file', '-t', theirs]), repository.git(['rev-parse', 'main'])]).toEqual(['commit', base]);

  const elsewhere = { address: 'https://someone:hunter2@127.0.0.1:1/acme/app.git' };
  const unreachable = await remoteBranch(path, 'main', elsewhere).catch((error: unknown) => error);
  expect(unreachable).toMatchObject({ why: 'unreachable' });
  expect(String(unreachable)).not.toContain('hunter2');
});

test('pushes only to a checked https or ssh address [harden.git.checked-url]', async () => {
  const { repository } = repositoryOnGitHub();
  const { path } = repository;
  const mark = join(temporaryFolder(), 'mark');
  const bare = join(temporaryFolder(), 'bare.git');
  repository.git(['init', '--quiet', '--bare', '--', bare]);
  writeFileSync(join(bare, 'hooks/pre-receive'), `#!/bin/sh\ntouch '${mark}'\n`);
  chmodSync(join(bare, 'hooks/pre-receive'), 0o755);
  const hostile = [
    bare,
    `file://${bare}`,
    `ext::sh -c touch% ${mark}`,
    'http://github.com/acme/app.git',
    'git://github.com/acme/app.git',
    '-oProxyCommand=x:a/b',
  ];
  for (const address of [...hostile, 'ssh://-oProxyCommand=x/acme/app', 'https://github.com/a\nb', '']) {
    await expect(pushBranch(path, 'main', { address }), address).rejects.toMatchObject({ name: 'RemoteFailed', why: 'failed' });
  }
  expect(existsSync(mark)).toBe(false);
  // Pushed commits count as saved elsewhere.
  repository.git(['branch', 'work/z']);
  await pushBranch(path, 'work/z', AT);
  expect(repository.git(['rev-parse', 'refs/remotes/origin/work/z'])).toBe(repository.git(['rev-parse', 'work/z']));
});

test('gives the token to git only for the host of origin, and puts it in no argument [harden.git.github-token]', async () => {
  const token = `ghp_${"it's $(secret) \\n%s"}`;
  const asked = async (address: string, host: string) => {
    const { settings = [], env = {} } = withPassword(address, token) ?? {};
    expect(JSON.stringify(settings)).not.toContain(token);
    const input = `protocol=https\nhost=${host}\n\n`;
    const ran = await runGitProgram(['credential', 'fill'], { cwd: temporaryFolder(), env, settings, timeoutMs: 10_000, maxOutputBytes: 10_000, input });
    return ran.code === 0 ? ran.stdout : null;
  };
  expect(await asked('https://github.com/acme/app.git', 'github.com')).toContain(`username=x-access-token\npassword=${token}\n`);
  expect(await asked('https://git.test:8443/acme/app.git', 'git.test:8443')).toContain(`password=${token}\n`);
  expect([await asked('https://github.com/acme/app.git', 'evil.org'), await asked('https://git.test:8443/a/b', 'git.test')]).toEqual([null, null]);
  // ssh uses the user's own keys; over plain http anyone could read the token.
  for (const address of ['git@github.com:acme/app.git', 'ssh://git@github.com/acme/app', 'http://github.com/acme/app', '/srv/app.git']) {
    expect(withPassword(address, token)).toBeUndefined();
  }
});
