import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { placedFiles } from './placed-files.ts';

function repository(repo: string) {
  const { path, git } = temporaryRepository();
  git(['remote', 'add', 'origin', `https://example.org/${repo}`]);
  mkdirSync(join(path, 'src'));
  return { path, git, repo: `https://example.org/${repo}` };
}

const placed = (paths: readonly string[], folder: string) =>
  placedFiles(
    paths.map((path) => ({ path })),
    folder,
  );
const placedTrees = (paths: readonly string[], folder: string) =>
  placedFiles(
    paths.map((path) => ({ path, tree: true })),
    folder,
  );

test('ignores an impossibly long path without searching for it', () => {
  const { path, repo } = repository('app');
  expect(placed([`${'a/'.repeat(500_000)}b`, 'src/a.ts'], path)).toEqual([{ repo, path: 'src/a.ts' }]);
  expect(placed([join(path, 'src/a.ts')], `/${'a/'.repeat(500_000)}`)).toEqual([]);
});

test('names a file by its repository, and by both names through a link, even before it exists; leaves out files outside of repositories', () => {
  const [one, two] = [repository('one'), repository('two')];
  writeFileSync(join(two.path, 'src', 'a.ts'), '');
  symlinkSync(join(two.path, 'src'), join(one.path, 'linked'));
  expect(placed(['src/not/yet.ts', 'linked/a.ts', '../elsewhere.ts', '.', join(two.path, 'src/a.ts')], one.path)).toEqual([
    { repo: one.repo, path: 'src/not/yet.ts' },
    { repo: two.repo, path: 'src/a.ts' },
    { repo: one.repo, path: 'linked/a.ts' },
  ]);
  expect(placed([join(one.path, 'linked', 'new.ts'), `${two.path}/src//./../src/a.ts`], one.path)).toEqual([
    { repo: two.repo, path: 'src/new.ts' },
    { repo: one.repo, path: 'linked/new.ts' },
    { repo: two.repo, path: 'src/a.ts' },
  ]);
});

test("a submodule's file belongs to the submodule and to the outer repository; a nested clone's file belongs only to the clone", () => {
  const [outer, inner] = [repository('outer'), repository('inner')];
  outer.git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'vendor/inner']);
  outer.git(['clone', '--quiet', inner.path, 'clone']);
  expect(placed(['vendor/inner/src/a.ts', 'clone/a.ts'], outer.path)).toEqual([
    { repo: 'inner', path: 'src/a.ts' },
    { repo: outer.repo, path: 'vendor/inner/src/a.ts' },
    { repo: 'clone', path: 'a.ts' },
  ]);
  const asFolder = { repo: outer.repo, path: 'vendor/inner', tree: true };
  expect(placedTrees(['vendor/inner'], outer.path)).toEqual([asFolder]);
  const within = join(outer.path, 'vendor/inner');
  expect(placedTrees(['.'], within)).toEqual([{ repo: 'inner', path: '', tree: true }, asFolder]);
  expect(placedTrees(['../..'], within)).toEqual([
    { repo: outer.repo, path: '', tree: true },
    { repo: 'inner', path: '', tree: true },
  ]);
});

// Checking each folder on the way would take minutes.
test('does not search below a folder that does not exist', () => {
  const { path, repo } = repository('app');
  const files = Array.from({ length: 500 }, (_, index) => `${index}/${'a/'.repeat(95)}b`);
  const found = placed(files, join(path, 'd/'.repeat(1_500)));
  expect(found).toHaveLength(500);
  expect(found[0]).toEqual({ repo, path: `${'d/'.repeat(1_500)}${files[0]}` });
});

test("a folder stands for everything below it and a file for itself; the caller's repository or a folder around it stands for the whole repository", () => {
  const { path, repo } = repository('app');
  writeFileSync(join(path, 'src', 'a.ts'), '');
  const whole = { repo, path: '', tree: true };
  expect(placedTrees(['src', 'src/a.ts', 'src/none'], path)).toEqual([
    { repo, path: 'src', tree: true },
    { repo, path: 'src/a.ts' },
    { repo, path: 'src/none' },
  ]);
  expect(placedTrees(['.'], path)).toEqual([whole]);
  expect(placedTrees(['..'], join(path, 'src'))).toEqual([whole]);
  expect(placedTrees([path], join(path, 'src'))).toEqual([whole]);
  expect(placedTrees(['..', '/'], path)).toEqual([whole]);
  expect(placedTrees(['/'], dirname(path))).toEqual([]);
  const linked = join(repository('links').path, 'to-app');
  symlinkSync(path, linked);
  expect(placedTrees([path, dirname(path)], join(linked, 'src'))).toEqual([whole]);
});

test('the top of another working tree (linked, cloned or new) affects no claim, but the files in it do', () => {
  const { path, git, repo } = repository('app');
  writeFileSync(join(path, 'src', 'a.ts'), '');
  git(['add', '.']);
  git(['-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '--quiet', '-m', 'a']);
  const other = repository('app').path;
  git(['worktree', 'add', '--quiet', 'scratch/tree']);
  git(['clone', '--quiet', '.', 'scratch/app']);
  const tops = [other, 'scratch/tree', 'scratch/app'];
  expect(placedTrees([...tops, ...tops.map((top) => `${top}/.git/..`)], path)).toEqual([]);
  expect(placedTrees([path], dirname(path))).toEqual([]);
  expect(placed(['scratch/tree/src/new.ts'], path)).toEqual([{ repo, path: 'src/new.ts' }]);
  expect(placedTrees(['scratch', 'scratch/tree/src'], path)).toEqual([
    { repo, path: 'scratch', tree: true },
    { repo, path: 'src', tree: true },
  ]);
});

test('removing a symbolic link affects the link itself; writing through it affects its target', () => {
  const { path, repo } = repository('app');
  symlinkSync('src', join(path, 'current'));
  symlinkSync('../src', join(path, 'src', 'again'));
  const removed = (name: string) => placedFiles([{ path: name, tree: true, removed: true }], path);
  const both = ['src', 'current'].map((name) => ({ repo, path: name, tree: true }));
  expect(removed('current')).toEqual([{ repo, path: 'current' }]);
  expect(removed('current/again')).toEqual([
    { repo, path: 'src/again' },
    { repo, path: 'current/again' },
  ]);
  expect(removed('current/')).toEqual(both);
  expect(placedTrees(['current'], path)).toEqual(both);
  expect(removed('src')).toEqual([{ repo, path: 'src', tree: true }]);
});

test('a path relative to the top of the working tree is resolved there, in whatever folder the caller is', () => {
  const { path, repo } = repository('app');
  const fromTop = (name: string, at = 'src') => placedFiles([{ path: at, tree: true, fromTop: name }], path);
  expect(fromTop('')).toEqual([{ repo, path: '', tree: true }]);
  expect(fromTop('src')).toEqual([{ repo, path: 'src', tree: true }]);
  expect(fromTop('', '/')).toEqual([]);
});
