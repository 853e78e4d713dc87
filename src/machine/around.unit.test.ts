import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../testing/database.ts';
import { repositoryAround } from './around.ts';

test('the repository around a folder is the nearest one above it, and that of a worktree the one it is of', () => {
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

test('a mark that is neither folder nor file, or cannot be followed, is none', () => {
  const folder = realpathSync(temporaryFolder());
  symlinkSync('.git', join(folder, '.git'));
  expect(repositoryAround(folder)).toBe(folder);
  const piped = join(folder, 'piped');
  mkdirSync(piped);
  execFileSync('mkfifo', [join(piped, '.git')]);
  expect(repositoryAround(piped)).toBe(piped);
});

test('a mark that is larger than any of git is not read', () => {
  const folder = realpathSync(temporaryFolder());
  writeFileSync(join(folder, '.git'), `gitdir: /elsewhere/.git/worktrees/one\n${' '.repeat(20_000)}`);
  expect(repositoryAround(folder)).toBe(folder);
});
