import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { fileDisk } from '../files.ts';
import { applyMerge, type FileMerge, MergeImpossible, prepareMerge } from './merge-file.ts';

function worktree() {
  const repository = temporaryRepository({ commits: 3 });
  const path = `${repository.path}-worktrees/one`;
  repository.git(['worktree', 'add', '--quiet', '-b', 'work/one', path]);
  const merge: FileMerge = {
    worktree: path,
    branch: 'work/one',
    file: 'REVIEW_FEEDBACK.md',
    text: '# Feedback\n',
    about: repository.git(['rev-parse', 'HEAD'], path),
    author: { name: 'review-1-a1', email: 'review-1-a1@covenant.invalid' },
    subject: 'Review feedback',
    key: 'fb1',
  };
  const git = (...args: string[]) => repository.git(args, path);
  return { repository, path, merge, git };
}

async function deliver(merge: FileMerge): Promise<string> {
  for (;;) {
    const prepared = await prepareMerge(merge);
    if (await applyMerge(merge, prepared)) return prepared.commit;
  }
}

test('the file arrives in a merge commit that adds nothing else, and staged, edited, deleted and untracked work stays byte for byte', async () => {
  const { repository, path, merge, git } = worktree();
  repository.commit('later.txt', 'later\n', path);
  writeFileSync(join(path, 'file-0.txt'), 'staged\n');
  git('add', 'file-0.txt');
  writeFileSync(join(path, 'file-0.txt'), 'staged, then edited\n');
  writeFileSync(join(path, 'file-1.txt'), 'edited\n');
  git('rm', '--quiet', 'file-2.txt');
  writeFileSync(join(path, 'new.txt'), 'untracked\n');
  const before = git('status', '--porcelain=v1', '--untracked-files=all');
  const staged = git('diff', '--cached');
  const head = git('rev-parse', 'HEAD');
  const commit = await deliver(merge);
  expect(git('rev-parse', 'HEAD')).toBe(commit);
  expect(git('log', '-1', '--format=%P').split(' ')).toEqual([head, expect.any(String)]);
  expect(git('diff', '--name-status', head, commit)).toBe('A\tREVIEW_FEEDBACK.md');
  expect(git('diff', '--name-only', merge.about, `${commit}^2`)).toBe('REVIEW_FEEDBACK.md');
  expect(git('status', '--porcelain=v1', '--untracked-files=all')).toBe(before);
  expect(git('diff', '--cached')).toBe(staged);
  expect(readFileSync(join(path, 'file-0.txt'), 'utf8')).toBe('staged, then edited\n');
  expect(readFileSync(join(path, 'REVIEW_FEEDBACK.md'), 'utf8')).toBe('# Feedback\n');
  git('commit', '--quiet', '-m', 'goes on');
  expect(git('ls-files', '--', 'REVIEW_FEEDBACK.md')).toBe('REVIEW_FEEDBACK.md');
  const again = await deliver({ ...merge, text: '# Second\n', key: 'fb2' });
  expect(git('diff', '--name-status', `${again}^`, again)).toBe('M\tREVIEW_FEEDBACK.md');
  const folder = git('rev-parse', '--absolute-git-dir');
  expect(readdirSync(folder).filter((name) => /covenant|lock/.test(name))).toEqual([]);
});

test("refuses a merge that would touch someone else's changes, and changes nothing", async () => {
  const { path, merge, git } = worktree();
  const head = git('rev-parse', 'HEAD');
  writeFileSync(join(path, 'REVIEW_FEEDBACK.md'), 'mine\n');
  await expect(prepareMerge(merge)).rejects.toThrow(MergeImpossible);
  git('add', 'REVIEW_FEEDBACK.md');
  await expect(prepareMerge(merge)).rejects.toThrow('not committed');
  git('rm', '--quiet', '--force', 'REVIEW_FEEDBACK.md');
  git('checkout', '--quiet', '--detach');
  await expect(prepareMerge(merge)).rejects.toThrow('detached');
  git('checkout', '--quiet', 'work/one');
  const prepared = await prepareMerge(merge);
  git('commit', '--quiet', '--allow-empty', '-m', 'meanwhile');
  expect(await applyMerge(merge, prepared)).toBe(false);
  expect(existsSync(join(path, 'REVIEW_FEEDBACK.md'))).toBe(false);
  expect(git('rev-parse', 'HEAD^')).toBe(head);
});

test('refuses a merge if git cannot see what it would touch: hidden edits, a link, an empty folder, another checkout', async () => {
  const { repository, path, merge, git } = worktree();
  const file = join(path, merge.file);
  repository.commit(merge.file, 'committed\n', path);
  for (const mark of ['assume-unchanged', 'skip-worktree']) {
    git('update-index', `--${mark}`, merge.file);
    writeFileSync(file, 'edited\n');
    await expect(prepareMerge(merge)).rejects.toThrow('not committed');
    expect(readFileSync(file, 'utf8')).toBe('edited\n');
    writeFileSync(file, 'committed\n');
    git('update-index', `--no-${mark}`, merge.file);
  }
  git('rm', '--quiet', merge.file);
  git('commit', '--quiet', '-m', 'gone');
  const elsewhere = `${path}-elsewhere`;
  writeFileSync(elsewhere, merge.text);
  symlinkSync(elsewhere, file);
  await expect(prepareMerge(merge)).rejects.toThrow('not committed');
  rmSync(file);
  mkdirSync(file);
  await expect(prepareMerge(merge)).rejects.toThrow('not committed');
  rmSync(file, { recursive: true });
  git('worktree', 'add', '--quiet', '--force', elsewhere.replace('elsewhere', 'twice'), 'work/one');
  await expect(prepareMerge(merge)).rejects.toThrow('in 2 worktrees');
});

test('a commit that its author removed does not come back', async () => {
  const { repository, path, merge, git } = worktree();
  repository.commit('secret.txt', 'secret\n', path);
  const about = git('rev-parse', 'HEAD');
  git('rm', '--quiet', 'secret.txt');
  git('commit', '--quiet', '--amend', '--allow-empty', '-m', 'without it');
  const head = git('rev-parse', 'HEAD');
  const commit = await deliver({ ...merge, about });
  expect(git('diff', '--name-status', head, commit)).toBe('A\tREVIEW_FEEDBACK.md');
  expect(git('rev-list', commit).split('\n')).not.toContain(about);
});

test('a commit made by someone else during the merge is not undone, and no stray file remains', async () => {
  const { path, merge, git } = worktree();
  const prepared = await prepareMerge(merge);
  const theirs = git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'theirs');
  const lock = join(git('rev-parse', '--absolute-git-dir'), 'index.lock');
  const applied = applyMerge(merge, prepared);
  while (!existsSync(lock)) await setImmediate();
  git('update-ref', 'refs/heads/work/one', theirs);
  expect(await applied).toBe(false);
  expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), existsSync(lock)]).toEqual([theirs, '', false]);
  expect(existsSync(join(path, merge.file))).toBe(false);
  expect(git('rev-parse', `${await deliver(merge)}^1`)).toBe(theirs);
});

test('if a step fails after the branch was moved, both the branch and the file are restored', async () => {
  const { path, merge, git } = worktree();
  const lock = join(git('rev-parse', '--absolute-git-dir'), 'index.lock');
  const replace = vi.spyOn(fileDisk, 'replaceFile');
  onTestFinished(() => replace.mockRestore());
  const before = () => [git('rev-parse', 'HEAD'), git('status', '--porcelain'), existsSync(lock), existsSync(join(path, merge.file))];
  for (const text of ['# First\n', '# Second\n']) {
    const job = { ...merge, text, key: text.slice(2, 7) };
    const was = before();
    const prepared = await prepareMerge(job);
    replace.mockRejectedValueOnce(new Error('disk full'));
    await expect(applyMerge(job, prepared)).rejects.toThrow('disk full');
    expect(before()).toEqual(was);
    // An agent that finds a lock in its way may remove it.
    replace.mockImplementationOnce(async (...args) => {
      await fileDisk.replaceFile(...args);
      rmSync(lock);
    });
    await expect(applyMerge(job, prepared)).rejects.toThrow('was removed meanwhile');
    expect(before()).toEqual(was);
    expect(await applyMerge(job, prepared)).toBe(true);
    expect(git('status', '--porcelain')).toBe('');
  }
});
