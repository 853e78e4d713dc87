import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { commitByHash, GitFailed, git, requireBranchName, resolveCommit } from './git.ts';
import { runGitProgram } from './git-program.ts';
import { currentBranch, locateRepository, RepositoryUnfit, startingPoint } from './repository.ts';

test("the error message contains the first relevant line of git's output", async () => {
  const { path } = temporaryRepository();
  const failure = await git(path, ['rev-parse', '--verify', 'refs/heads/none']).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(GitFailed);
  expect(failure).toMatchObject({ message: 'Needed a single revision', command: 'rev-parse', code: 128 });
});

test('passes neither GIT_ variables nor secrets of the server to git', async () => {
  const [here, elsewhere] = [temporaryRepository(), temporaryRepository({ commits: 2 })];
  vi.stubEnv('GIT_DIR', join(elsewhere.path, '.git')).stubEnv('GIT_INDEX_FILE', '/nowhere').stubEnv('DATABASE_URL', 'postgres://secret');
  try {
    expect((await git(here.path, ['rev-list', '--count', 'HEAD'])).trim()).toBe('1');
    const { stdout } = await runGitProgram(['-c', 'alias.env=!env', 'env'], { cwd: here.path, timeoutMs: 10_000, maxOutputBytes: 100_000 });
    expect(stdout).toContain('GIT_CONFIG_GLOBAL=/dev/null');
    expect(stdout).not.toMatch(/secret|GIT_INDEX_FILE=/);
  } finally {
    vi.unstubAllEnvs();
  }
});

test("does not run a repository's hooks", async () => {
  const repository = temporaryRepository();
  const marker = join(temporaryFolder(), 'ran');
  repository.write('.git/hooks/post-checkout', `#!/bin/sh\ntouch ${marker}\n`);
  chmodSync(join(repository.path, '.git/hooks/post-checkout'), 0o755);
  await git(repository.path, ['worktree', 'add', '-b', 'x', '--', `${repository.path}-x`, 'HEAD']);
  expect(existsSync(marker)).toBe(false);
});

test('waits if another git process holds a lock for a short time', async () => {
  const repository = temporaryRepository();
  repository.write('.git/refs/heads/new.lock', '');
  const update = git(repository.path, ['update-ref', 'refs/heads/new', 'HEAD']);
  setTimeout(() => rmSync(join(repository.path, '.git/refs/heads/new.lock')), 300);
  await update;
  expect(repository.branches()).toContain('new');
});

test.each(['-x', '--force', '@{-1}', 'HEAD', 'a b', 'a..b', 'a~1', 'x.lock', '', '../x', 'a:b'])('%j is not a branch name', async (name) => {
  await expect(requireBranchName(temporaryRepository().path, name)).rejects.toThrow(GitFailed);
});

test('finds a commit by its hash or abbreviation, but not by a branch named like a hash', async () => {
  const repository = temporaryRepository();
  const commit = repository.git(['rev-parse', 'HEAD']);
  repository.git(['branch', 'deadbee']);
  expect(await commitByHash(repository.path, commit.slice(0, 8).toUpperCase())).toBe(commit);
  expect(await commitByHash(repository.path, 'deadbee')).toBe(null);
  expect(await resolveCommit(repository.path, 'refs/heads/main')).toBe(commit);
  expect(await resolveCommit(repository.path, '--all')).toBe(null);
});

test('finds a repository from a folder inside it, and distinguishes a missing folder, a plain one, a detached HEAD and an empty repository', async () => {
  const repository = temporaryRepository();
  mkdirSync(join(repository.path, 'deep/er'), { recursive: true });
  expect(await locateRepository(join(repository.path, 'deep/er'))).toEqual({ root: repository.path, commonDir: join(repository.path, '.git') });
  const why = (work: Promise<unknown>) =>
    work.then(
      () => 'fit',
      (error: unknown) => (error instanceof RepositoryUnfit ? error.why : error),
    );
  expect(await why(locateRepository('/no/such/folder'))).toBe('missing');
  expect(await why(locateRepository(temporaryFolder()))).toBe('not_git');
  // The first half of its path is another repository.
  const broken = `${repository.path}\nbroken`;
  mkdirSync(broken);
  repository.git(['init', '--quiet'], broken);
  symlinkSync(broken, `${repository.path}-link`);
  expect(await why(locateRepository(`${repository.path}-link`))).toBe('not_git');
  expect(await startingPoint(repository.path)).toEqual({ branch: 'main', commit: repository.git(['rev-parse', 'HEAD']) });
  repository.git(['tag', 'main']);
  expect(await currentBranch(repository.path)).toBe('main');
  repository.git(['checkout', '--quiet', '--detach']);
  expect(await why(startingPoint(repository.path))).toBe('detached');
  expect(await why(startingPoint(temporaryRepository({ commits: 0 }).path))).toBe('empty');
});
