import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/store/database.ts';
import { placeOf, repositoryAround } from './place.ts';

test("a folder's repository is the nearest one above it; a worktree's repository is the one that it belongs to", () => {
  const home = realpathSync(temporaryFolder());
  const repository = join(home, 'répo');
  const inside = join(repository, 'src', 'deep');
  mkdirSync(inside, { recursive: true });
  expect(repositoryAround(inside)).toBe(inside);
  const git = (...args: string[]) => execFileSync('git', ['-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args]);
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '--message', 'first');
  expect(repositoryAround(inside)).toBe(repository);
  git('worktree', 'add', '--quiet', join(home, 'tree'));
  expect(repositoryAround(join(home, 'tree'))).toBe(repository);
});

test('ignores a `.git` that is neither a folder nor a file, or is a link that cannot be followed', () => {
  const folder = realpathSync(temporaryFolder());
  symlinkSync('.git', join(folder, '.git'));
  expect(repositoryAround(folder)).toBe(folder);
  const piped = join(folder, 'piped');
  mkdirSync(piped);
  execFileSync('mkfifo', [join(piped, '.git')]);
  expect(repositoryAround(piped)).toBe(piped);
});

test('ignores a git file that is a pipe, because reading it would never end', () => {
  const folder = realpathSync(temporaryFolder());
  mkdirSync(join(folder, '.git'));
  execFileSync('mkfifo', [join(folder, '.git/config'), join(folder, '.git/commondir')]);
  symlinkSync('/dev/zero', join(folder, '.git/HEAD'));
  expect(placeOf(folder)).toMatchObject({ root: folder, branch: undefined });
});

test('a folder with an impossibly long path is in no repository and is not searched', () => {
  const folder = repository('app');
  expect(placeOf(join(folder, 'a/'.repeat(1_000)))?.root).toBe(folder);
  expect(placeOf(join(folder, 'a/'.repeat(1_000_000)))).toBeUndefined();
});

test("does not read a `.git` file larger than git's own", () => {
  const folder = realpathSync(temporaryFolder());
  writeFileSync(join(folder, '.git'), `gitdir: /elsewhere/.git/worktrees/one\n${' '.repeat(20_000)}`);
  expect(repositoryAround(folder)).toBe(folder);
});

const git = (folder: string, ...args: string[]) => execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args]);

function repository(name: string): string {
  const folder = join(realpathSync(temporaryFolder()), name);
  mkdirSync(join(folder, 'src'), { recursive: true });
  git(folder, 'init', '--quiet', '--initial-branch', 'main');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  return folder;
}

test("a place has the remote without its password, or the folder's name, and the branch", () => {
  const folder = repository('app');
  expect(placeOf(join(folder, 'src'))).toEqual({ folder: join(folder, 'src'), root: folder, checkout: folder, repo: 'app', branch: 'main' });
  git(folder, 'remote', 'add', 'upstream', 'https://example.org/other/app.git');
  expect(placeOf(folder)?.repo).toBe('https://example.org/other/app.git');
  git(folder, 'remote', 'add', 'origin', 'https://ana:secret@example.org/acme/app.git');
  expect(placeOf(folder)?.repo).toBe('https://example.org/acme/app.git');
  git(folder, 'remote', 'set-url', 'origin', '/srv/git/app.git');
  expect(placeOf(folder)?.repo).toBe('app');
  git(folder, 'checkout', '--quiet', '--detach');
  expect(placeOf(folder)?.branch).toBeUndefined();
  expect(placeOf(realpathSync(temporaryFolder()))).toBeUndefined();
});

test("a linked worktree has its own root and branch, and its repository's remote", () => {
  const folder = repository('app');
  git(folder, 'remote', 'add', 'origin', 'git@example.org:acme/app.git');
  const tree = join(folder, '..', 'tree');
  git(folder, 'worktree', 'add', '--quiet', '-b', 'other', tree);
  expect(placeOf(tree)).toMatchObject({ root: join(folder, '..', 'tree'), checkout: folder, repo: 'git@example.org:acme/app.git', branch: 'other' });
});

test('worktrees of a bare repository belong to that repository, whatever their folders are called', () => {
  const folder = repository('app');
  const bare = join(folder, '..', '.bare');
  git(folder, 'clone', '--quiet', '--bare', folder, bare);
  git(bare, 'remote', 'set-url', 'origin', 'https://example.org/acme/app.git');
  const trees = ['one', 'two'].map((name) => join(folder, '..', name));
  for (const tree of trees) git(bare, 'worktree', 'add', '--quiet', '--detach', tree);
  for (const tree of trees) expect(placeOf(tree)).toMatchObject({ root: tree, checkout: tree, repo: 'https://example.org/acme/app.git' });
});
