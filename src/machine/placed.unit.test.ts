import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryRepository } from '../testing/repository.ts';
import { locate as locateWritten } from './placed.ts';

function repository(repo: string) {
  const { path, git } = temporaryRepository();
  git(['remote', 'add', 'origin', `https://example.org/${repo}`]);
  mkdirSync(join(path, 'src'));
  return { path, git, repo: `https://example.org/${repo}` };
}

const locate = (paths: readonly string[], folder: string) =>
  locateWritten(
    paths.map((path) => ({ path })),
    folder,
  );
const locateTrees = (paths: readonly string[], folder: string) =>
  locateWritten(
    paths.map((path) => ({ path, tree: true })),
    folder,
  );

test('a path that is longer than any is no file, and costs nothing', () => {
  const { path, repo } = repository('app');
  expect(locate([`${'a/'.repeat(500_000)}b`, 'src/a.ts'], path)).toEqual([{ repo, path: 'src/a.ts' }]);
  expect(locate([join(path, 'src/a.ts')], `/${'a/'.repeat(500_000)}`)).toEqual([]);
});

test('a file is located by its own repository, through links by both names, and before it exists; what is in none is left out', () => {
  const [one, two] = [repository('one'), repository('two')];
  writeFileSync(join(two.path, 'src', 'a.ts'), '');
  symlinkSync(join(two.path, 'src'), join(one.path, 'linked'));
  expect(locate(['src/not/yet.ts', 'linked/a.ts', '../elsewhere.ts', '.', join(two.path, 'src/a.ts')], one.path)).toEqual([
    { repo: one.repo, path: 'src/not/yet.ts' },
    { repo: two.repo, path: 'src/a.ts' },
    { repo: one.repo, path: 'linked/a.ts' },
  ]);
  expect(locate([join(one.path, 'linked', 'new.ts'), `${two.path}/src//./../src/a.ts`], one.path)).toEqual([
    { repo: two.repo, path: 'src/new.ts' },
    { repo: one.repo, path: 'linked/new.ts' },
    { repo: two.repo, path: 'src/a.ts' },
  ]);
});

test("a submodule's file is its own repository's and that of the outer one, by its path there; a clone that lies in another is not", () => {
  const [outer, inner] = [repository('outer'), repository('inner')];
  outer.git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.path, 'vendor/inner']);
  outer.git(['clone', '--quiet', inner.path, 'clone']);
  expect(locate(['vendor/inner/src/a.ts', 'clone/a.ts'], outer.path)).toEqual([
    { repo: 'inner', path: 'src/a.ts' },
    { repo: outer.repo, path: 'vendor/inner/src/a.ts' },
    { repo: 'clone', path: 'a.ts' },
  ]);
  expect(locateTrees(['vendor/inner'], outer.path)).toEqual([
    { repo: 'inner', path: '', tree: true },
    { repo: outer.repo, path: 'vendor/inner', tree: true },
  ]);
});

// To look for each folder on the way would take minutes.
test('beneath a folder that is missing nothing is looked for', () => {
  const { path, repo } = repository('app');
  const files = Array.from({ length: 500 }, (_, index) => `${index}/${'a/'.repeat(95)}b`);
  const placed = locate(files, join(path, 'd/'.repeat(1_500)));
  expect(placed).toHaveLength(500);
  expect(placed[0]).toEqual({ repo, path: `${'d/'.repeat(1_500)}${files[0]}` });
});

test('a folder is meant with all beneath it, a file alone; the top of a repository, and what is around it, is the whole', () => {
  const { path, repo } = repository('app');
  writeFileSync(join(path, 'src', 'a.ts'), '');
  const whole = { repo, path: '', tree: true };
  expect(locateTrees(['src', 'src/a.ts', 'src/none'], path)).toEqual([
    { repo, path: 'src', tree: true },
    { repo, path: 'src/a.ts' },
    { repo, path: 'src/none' },
  ]);
  expect(locateTrees(['.'], path)).toEqual([whole]);
  expect(locateTrees(['..'], join(path, 'src'))).toEqual([whole]);
  expect(locateTrees([path], dirname(path))).toEqual([whole]);
  expect(locateTrees(['..', '/'], path)).toEqual([whole]);
  expect(locateTrees(['/'], dirname(path))).toEqual([]);
});
