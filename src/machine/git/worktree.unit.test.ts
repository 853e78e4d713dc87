import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type TestRepository, temporaryRepository } from '../../testing/scenes/repository.ts';
import { cleanWorktree } from '../../testing/stand-ins/pretended-disk.ts';
import { listWorktrees } from './list-worktrees.ts';
import { addWorktree, deleteBranch, removeWorktree } from './worktree.ts';
import { worktreeState } from './worktree-state.ts';

let repository: TestRepository;
let root: string;
let path: string;
let base: string;
const branch = 'workflow/w/t';

beforeEach(() => {
  repository = temporaryRepository();
  root = repository.path;
  path = `${root}-worktrees/one`;
  base = repository.git(['rev-parse', 'HEAD']);
});

const add = (more: object = {}) => addWorktree(root, { path, branch, base, ...more });
const state = (mergeCommit: string | null = null) => worktreeState(root, path, { branch, base: 'main', mergeCommit, passing: 'workflow/' });

describe('creating a worktree', () => {
  test('creates folder, branch and checkout; repeating it changes nothing', async () => {
    expect(await add()).toBe(base);
    expect(existsSync(join(path, 'file-0.txt'))).toBe(true);
    const commit = repository.commit('own.txt', 'x', path);
    expect(await add()).toBe(commit);
    expect(repository.worktrees()).toEqual([path]);
  });

  test('refuses a branch with its own commits, unless it is to be continued', async () => {
    repository.git(['branch', branch]);
    await add();
    const own = repository.commit('own.txt', 'x', path);
    await removeWorktree(root, path);
    await expect(add()).rejects.toThrow(`branch ${branch} already exists with 1 commit(s) of its own`);
    expect(await add({ continues: true })).toBe(own);
  });

  test('uses a branch that an interrupted attempt has left, and moves it to the base', async () => {
    repository.git(['branch', branch]);
    base = repository.commit('later.txt', 'x');
    expect(await add()).toBe(base);
  });

  test('continues with a worktree that git had created only in part when it was killed', async () => {
    await add();
    rmSync(join(path, 'file-0.txt'));
    writeFileSync(join(root, '.git/worktrees/one/locked'), 'initializing\n');
    expect(await add()).toBe(base);
    expect(existsSync(join(path, 'file-0.txt'))).toBe(true);
  });

  test('recreates a worktree whose folder was deleted by hand', async () => {
    await add();
    rmSync(path, { recursive: true });
    expect(await add()).toBe(base);
    expect(existsSync(path)).toBe(true);
  });

  test('does not recreate a worktree if git still keeps work of its deleted folder', async () => {
    await add();
    repository.git(['checkout', '--quiet', '--detach'], path);
    const own = repository.commit('own.txt', 'x', path);
    rmSync(path, { recursive: true });
    await expect(add({ continues: true })).rejects.toThrow('git still keeps a detached HEAD of it');
    expect((await state()).head).toBe(own);
  });

  test("leaves an existing folder or another branch's worktree at the path unchanged", async () => {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'mine.txt'), 'x');
    await expect(add()).rejects.toThrow('already exists');
    expect(repository.branches()).toEqual(['main']);
    rmSync(path, { recursive: true });
    await addWorktree(root, { path, branch: 'other', base });
    await expect(add()).rejects.toThrow('is already a worktree of other');
  });

  test('refuses a branch that looks like an option', async () => {
    await expect(add({ branch: '--force' })).rejects.toThrow('is not a valid branch name');
  });

  test('works if the worktrees folder is a symbolic link', async () => {
    mkdirSync(`${root}-elsewhere`);
    symlinkSync(`${root}-elsewhere`, `${root}-worktrees`);
    await add();
    expect(await add()).toBe(base);
    expect(await state()).toMatchObject({ listed: true, exists: true });
  });

  test('eight concurrent creations in one repository all succeed', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `n${index}`);
    await Promise.all(names.map((name) => addWorktree(root, { path: `${root}-worktrees/${name}`, branch: name, base })));
    expect((await listWorktrees(root)).map((worktree) => worktree.branch).sort()).toEqual(['main', ...names].sort());
  });
});

describe('the state of a worktree', () => {
  beforeEach(() => add());

  test('reports no loss for a new worktree', async () => {
    expect(await state()).toEqual(cleanWorktree(base, branch));
  });

  test.each<[string, string, () => void]>([
    ['a modified file', '1 file(s) changed but not committed', () => repository.write('file-0.txt', 'y', path)],
    ['a deleted file', '1 file(s) changed but not committed', () => rmSync(join(path, 'file-0.txt'))],
    [
      'a staged file',
      '1 file(s) changed but not committed',
      () => {
        repository.write('new.txt', 'y', path);
        repository.git(['add', '.'], path);
      },
    ],
    ['an untracked file', '1 file(s) untracked', () => repository.write('new.txt', 'y', path)],
    [
      'an untracked file that the configuration hides',
      '1 file(s) untracked',
      () => {
        repository.git(['config', 'status.showUntrackedFiles', 'no']);
        repository.write('new.txt', 'y', path);
      },
    ],
    [
      'a file marked as unchanged',
      '1 file(s) marked so that git ignores their changes',
      () => {
        repository.git(['update-index', '--assume-unchanged', 'file-0.txt'], path);
        repository.write('file-0.txt', 'y', path);
      },
    ],
    [
      'a file marked as not checked out',
      '1 file(s) marked so that git ignores their changes',
      () => {
        repository.git(['update-index', '--skip-worktree', 'file-0.txt'], path);
        repository.write('file-0.txt', 'y', path);
      },
    ],
  ])('reports %s as uncommitted', async (_, words, change) => {
    change();
    expect((await state()).dirty).toBe(words);
  });

  test('does not report ignored files', async () => {
    appendFileSync(join(root, '.git/info/exclude'), 'built/\n');
    repository.write('built/x', 'y', path);
    expect((await state()).dirty).toBe(null);
  });

  test('reports a worktree or repository inside the worktree, even in an ignored folder', async () => {
    appendFileSync(join(root, '.git/info/exclude'), 'built/\n');
    repository.write('built/x', 'y', path);
    expect((await state()).inner).toBe(null);
    repository.git(['worktree', 'add', '--quiet', '-b', 'inner', join(path, 'built/two')]);
    expect(await state()).toMatchObject({ dirty: null, inner: 'built/two/' });
    repository.git(['worktree', 'remove', join(path, 'built/two')]);
    repository.git(['init', '--quiet', join(path, 'built/three')]);
    expect(await state()).toMatchObject({ dirty: null, inner: 'built/three/' });
  });

  test('reports submodules, whose commits git keeps even when the folder is gone', async () => {
    const library = `${root}-library`;
    repository.git(['clone', '--quiet', root, library]);
    repository.git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'library'], path);
    repository.git(['commit', '--quiet', '--message', 'Use it'], path);
    repository.git(['merge', '--quiet', branch]);
    expect(await state()).toMatchObject({ dirty: null, unsaved: 0, submodules: true });
    rmSync(path, { recursive: true });
    expect((await state()).submodules).toBe(true);
    await expect(add({ continues: true })).rejects.toThrow('git still keeps submodules of it');
  });

  test('reports an unfinished merge, rebase or cherry-pick', async () => {
    const other = repository.commit('file-0.txt', 'theirs\n');
    repository.commit('file-0.txt', 'ours\n', path);
    for (const [command, word] of [
      ['merge', 'merge'],
      ['rebase', 'rebase'],
      ['cherry-pick', 'cherry-pick'],
    ] as const) {
      expect(() => repository.git([command, other], path)).toThrow();
      expect((await state()).inProgress).toBe(word);
      repository.git([command, '--abort'], path);
    }
    expect((await state()).inProgress).toBe(null);
  });

  test('counts commits that are not in the base branch', async () => {
    repository.commit('a.txt', 'a', path);
    repository.commit('b.txt', 'b', path);
    expect((await state()).unsaved).toBe(2);
    repository.git(['merge', '--quiet', branch]);
    expect((await state()).unsaved).toBe(0);
  });

  test('counts commits that no remote has', async () => {
    repository.commit('a.txt', 'a', path);
    repository.git(['init', '--quiet', '--bare', `${root}-remote`]);
    repository.git(['remote', 'add', 'origin', `${root}-remote`]);
    expect((await state()).unsaved).toBe(1);
    repository.git(['push', '--quiet', 'origin', branch]);
    expect((await state()).unsaved).toBe(0);
  });

  test('counts commits that no permanent merge commit contains', async () => {
    const own = repository.commit('a.txt', 'a', path);
    expect((await state(own)).unsaved).toBe(1);
    repository.git(['checkout', '--quiet', '-b', 'integration']);
    repository.git(['merge', '--quiet', '--no-ff', '--message', 'Merge', branch]);
    const merge = repository.git(['rev-parse', 'HEAD']);
    expect((await state(merge.slice(0, 10))).unsaved).toBe(0);
    expect((await state()).unsaved).toBe(1);
    repository.git(['checkout', '--quiet', 'main']);
    repository.git(['branch', '--quiet', '-D', 'integration']);
    expect((await state(merge)).unsaved).toBe(1);
    repository.git(['branch', 'workflow/w/other', merge]);
    expect((await state(merge)).unsaved).toBe(1);
  });

  test('counts commits on a detached HEAD and on the branch that it left', async () => {
    repository.commit('a.txt', 'a', path);
    repository.git(['checkout', '--quiet', '--detach', 'main'], path);
    repository.commit('b.txt', 'b', path);
    expect(await state()).toMatchObject({ branch: null, unsaved: 2 });
  });

  test('reports that the worktree is locked, and why', async () => {
    repository.git(['worktree', 'lock', '--reason', 'on a stick', path]);
    expect((await state()).locked).toBe('on a stick');
  });
});

describe('removing a worktree', () => {
  beforeEach(() => add());

  test('removes the folder, and its parent if that is empty', async () => {
    await removeWorktree(root, path);
    expect([existsSync(`${root}-worktrees`), repository.worktrees(), repository.branches()]).toEqual([false, [], ['main', branch]]);
  });

  test('is refused if the worktree contains uncommitted changes', async () => {
    repository.git(['config', 'status.showUntrackedFiles', 'no']);
    repository.write('new.txt', 'y', path);
    await expect(removeWorktree(root, path)).rejects.toThrow('contains modified or untracked files');
    expect(existsSync(join(path, 'new.txt'))).toBe(true);
  });

  test('deletes a branch only if it still points to the expected commit and is not checked out', async () => {
    expect(await deleteBranch(root, branch, base)).toBe(false);
    const own = repository.commit('a.txt', 'a', path);
    await removeWorktree(root, path);
    expect(await deleteBranch(root, branch, base)).toBe(false);
    expect(repository.branches()).toEqual(['main', branch]);
    expect(await deleteBranch(root, branch, own)).toBe(true);
    expect(await deleteBranch(root, branch, own)).toBe(true);
    expect(repository.branches()).toEqual(['main']);
  });
});
