import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { backUp, backUpCommit } from './backup.ts';

function worktree() {
  const repository = temporaryRepository({ commits: 3 });
  const path = `${repository.path}-worktrees/one`;
  repository.git(['worktree', 'add', '--quiet', '-b', 'work/one', path]);
  repository.write('.gitignore', 'ignored.txt\n', path);
  repository.git(['add', '.gitignore'], path);
  repository.git(['commit', '--quiet', '-m', 'Ignore'], path);
  const git = (...args: string[]) => repository.git(args, path);
  const shown = (revision: string, file: string) => repository.git(['show', `${revision}:${file}`]);
  return { repository, path, git, shown };
}

test('a backup contains committed, staged, edited, deleted and untracked work, and does not change the worktree [review.worktree.forced-backup]', async () => {
  const { repository, path, git, shown } = worktree();
  repository.commit('own.txt', 'committed\n', path);
  repository.write('file-0.txt', 'staged\n', path);
  git('add', 'file-0.txt');
  repository.write('file-0.txt', 'staged, then edited\n', path);
  repository.write('file-1.txt', 'edited\n', path);
  unlinkSync(join(path, 'file-2.txt'));
  repository.write('new/untracked $(id).txt', 'untracked\n', path);
  repository.write('ignored.txt', 'a secret\n', path);
  const before = [git('status', '--porcelain=v1', '--untracked-files=all'), git('diff', '--cached'), git('diff'), git('rev-parse', 'HEAD')];
  const ref = await backUp(path, 'work-1-a1', 'work/one');
  expect(ref).toBe('refs/covenant/backup/work-1-a1');
  expect([git('status', '--porcelain=v1', '--untracked-files=all'), git('diff', '--cached'), git('diff'), git('rev-parse', 'HEAD')]).toEqual(before);
  repository.git(['worktree', 'remove', '--force', path]);
  repository.git(['branch', '-D', 'work/one']);
  repository.git(['reflog', 'expire', '--expire=now', '--all']);
  repository.git(['gc', '--quiet', '--prune=now']);
  expect(shown(ref, 'own.txt')).toBe('committed');
  expect(shown(ref, 'file-0.txt')).toBe('staged, then edited');
  expect(shown(`${ref}^2`, 'file-0.txt')).toBe('staged');
  expect(shown(ref, 'file-1.txt')).toBe('edited');
  expect(shown(ref, 'new/untracked $(id).txt')).toBe('untracked');
  expect(repository.git(['ls-tree', '-r', '--name-only', ref]).split('\n')).not.toEqual(expect.arrayContaining(['file-2.txt']));
  expect(repository.git(['ls-tree', '-r', '--name-only', ref])).not.toContain('ignored.txt');
});

test('a second backup with the same name keeps the first, and a branch alone can be backed up too', async () => {
  const { repository, path, shown } = worktree();
  repository.write('file-0.txt', 'first\n', path);
  const first = await backUp(path, 'work-1-a1', 'work/one');
  repository.write('file-0.txt', 'second\n', path);
  const second = await backUp(path, 'work-1-a1', 'work/one');
  const tip = repository.git(['rev-parse', 'work/one']);
  const third = await backUpCommit(repository.path, 'work-1-a1', tip);
  expect([first, second, third]).toEqual([1, 2, 3].map((number) => `refs/covenant/backup/work-1-a1${number === 1 ? '' : `-${number}`}`));
  expect([shown(first, 'file-0.txt'), shown(second, 'file-0.txt')]).toEqual(['first', 'second']);
  expect(repository.git(['rev-parse', third])).toBe(tip);
});

test('a backup during a conflict contains the files on disk, including conflict markers', async () => {
  const { repository, path, git, shown } = worktree();
  repository.commit('file-0.txt', 'theirs\n');
  repository.commit('file-0.txt', 'ours\n', path);
  expect(() => git('merge', 'main')).toThrow();
  const ref = await backUp(path, 'work-1-a1', 'work/one');
  expect(shown(ref, 'file-0.txt')).toBe(readFileSync(join(path, 'file-0.txt'), 'utf8').trim());
  expect(shown(ref, 'file-0.txt')).toContain('<<<<<<<');
  expect(git('status', '--porcelain=v1')).toContain('UU file-0.txt');
  expect(existsSync(join(git('rev-parse', '--absolute-git-dir'), 'MERGE_HEAD'))).toBe(true);
});

test('a backup of a worktree with a detached HEAD contains the commits of HEAD and of the branch', async () => {
  const { repository, path, git } = worktree();
  const onBranch = repository.commit('branch.txt', 'on the branch\n', path);
  git('checkout', '--quiet', '--detach', 'HEAD~1');
  const detached = repository.commit('detached.txt', 'on no branch\n', path);
  writeFileSync(join(path, 'detached.txt'), 'and edited\n');
  const ref = await backUp(path, 'work-1-a1', 'work/one');
  const kept = repository.git(['rev-list', ref]).split('\n');
  expect(kept).toEqual(expect.arrayContaining([onBranch, detached]));
  expect(repository.git(['show', `${ref}:detached.txt`])).toBe('and edited');
});
