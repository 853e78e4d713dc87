import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { backUp } from './backup.ts';
import { copyIndex } from './index-copy.ts';
import { applyMerge, prepareMerge } from './merge-file.ts';

/** A file that was changed in the moment it was staged. The new content has the same length, so git must read the file to notice the change. */
function changedInTheSameMoment() {
  const repository = temporaryRepository();
  const { path, git, write } = repository;
  write('a.txt', 'staged\n');
  const moment = new Date(1_700_000_000_000);
  utimesSync(join(path, 'a.txt'), moment, moment);
  git(['add', '--', 'a.txt']);
  utimesSync(join(path, '.git/index'), moment, moment);
  write('a.txt', 'edited\n');
  utimesSync(join(path, 'a.txt'), moment, moment);
  expect(git(['diff', '--name-only'])).toBe('a.txt');
  utimesSync(join(path, '.git/index'), moment, moment);
  return repository;
}

test('after feedback was merged, git still notices a change that was made at the moment of staging', async () => {
  const { path, git } = changedInTheSameMoment();
  const about = git(['rev-parse', 'HEAD']);
  const merge = { worktree: path, branch: 'main', file: 'F.md', text: 'x\n', about, author: { name: 'a', email: 'a@b' }, subject: 's', key: 'k' };
  expect(await applyMerge(merge, await prepareMerge(merge))).toBe(true);
  expect(git(['status', '--porcelain'])).toBe('AM a.txt');
});

test('a backup contains a change that was made at the moment of staging', async () => {
  const { path, git } = changedInTheSameMoment();
  const ref = await backUp(path, 'one', 'main');
  expect([git(['show', `${ref}:a.txt`]), git(['show', ':a.txt'])]).toEqual(['edited', 'staged']);
});

test('copies nothing if the worktree has no index', async () => {
  const folder = temporaryFolder();
  await copyIndex(join(folder, 'index'), join(folder, 'copy'));
  expect(readdirSync(folder)).toEqual([]);
});
