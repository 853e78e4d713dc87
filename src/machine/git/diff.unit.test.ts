import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { changedFiles, mergeBase, patchOf } from './diff.ts';

/** A repository with work on its own branch, some of it committed. */
function repositoryAtWork() {
  const repository = temporaryRepository();
  const { path } = repository;
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');
  repository.commit('long.txt', `${lines}\n`);
  repository.commit('gone.txt', 'gone\n');
  const from = repository.git(['rev-parse', 'HEAD']);
  repository.git(['switch', '--quiet', '--create', 'work']);
  return { repository, path, from, compared: { folder: path, from, to: null } };
}

test('lists committed and uncommitted changes with line counts: changed, new, deleted, renamed and binary files, links, and nested repositories', async () => {
  const { repository, path, from, compared } = repositoryAtWork();
  repository.commit('kept.txt', 'one\ntwo\n');
  renameSync(join(path, 'long.txt'), join(path, 'renamed.txt'));
  rmSync(join(path, 'gone.txt'));
  repository.git(['add', '--all']);
  repository.write('file-0.txt', 'changed');
  repository.write('new/deep.txt', 'a\nb\nc');
  writeFileSync(join(path, 'picture.bin'), Buffer.from([1, 0, 2]));
  symlinkSync('/etc/passwd', join(path, 'link'));
  execFileSync('git', ['init', '--quiet', join(path, 'inner')]);
  const all = await changedFiles(compared);
  const plain = { before: null, binary: false, uncommitted: true };
  expect(all).toEqual([
    { ...plain, path: 'file-0.txt', change: 'modified', added: 1, removed: 1 },
    { ...plain, path: 'gone.txt', change: 'deleted', added: 0, removed: 1 },
    { ...plain, path: 'inner', change: 'repository', added: null, removed: null },
    { ...plain, path: 'kept.txt', change: 'added', added: 2, removed: 0, uncommitted: false },
    { ...plain, path: 'link', change: 'added', added: 1, removed: 0 },
    { ...plain, path: 'new/deep.txt', change: 'added', added: 3, removed: 0 },
    { ...plain, path: 'picture.bin', change: 'added', added: null, removed: null, binary: true },
    { ...plain, path: 'renamed.txt', before: 'long.txt', change: 'renamed', added: 0, removed: 0 },
  ]);
  const fileAt = (name: string) => all.find((file) => file.path === name) as (typeof all)[number];
  expect(await patchOf(compared, fileAt('new/deep.txt'))).toBe('@@ -0,0 +1,3 @@\n+a\n+b\n+c\n\\ No newline at end of file\n');
  expect(await patchOf(compared, fileAt('file-0.txt'))).toContain('@@ -1 +1 @@\n-0\n+changed\n');
  // A link's content is its target's path: the target is not shown.
  expect(await patchOf(compared, fileAt('link'))).toContain('+/etc/passwd\n');
  expect(await changedFiles({ folder: path, from, to: repository.git(['rev-parse', 'work']) })).toMatchObject([{ path: 'kept.txt', uncommitted: false }]);
  expect(await mergeBase(path, 'main', 'work')).toBe(from);
});

test('a file name is never read as an option, a pattern or more than one line', async () => {
  const { repository, path, compared } = repositoryAtWork();
  const names = ['--output=x', ':(glob)*', '*.txt', 'a\nb', 'tab\there', '"quoted"'];
  for (const name of names) writeFileSync(join(path, name), `${name.length}\n`);
  repository.git(['add', '--', './*.txt', './--output=x']);
  const all = await changedFiles(compared);
  expect(all.map((file) => file.path).sort()).toEqual([...names].sort());
  for (const file of all) expect(await patchOf(compared, file)).toContain(`+${file.path.length}\n`);
  expect(existsSync(join(path, 'x'))).toBe(false);
});

test("runs no program from the repository's configuration, such as a filter, external diff, textconv, hook or monitor", async () => {
  const { repository, path, compared } = repositoryAtWork();
  const trace = join(temporaryFolder(), 'ran');
  const program = join(temporaryFolder(), 'program');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${trace}'\ncat\n`);
  chmodSync(program, 0o755);
  const settings = {
    'filter.evil=er.clean': program,
    'filter.evil=er.smudge': program,
    'filter.evil=er.required': 'true',
    'filter.long.process': program,
    'diff.evil.command': program,
    'diff.evil.textconv': program,
    'diff.external': program,
    'core.fsmonitor': program,
    'core.pager': program,
  };
  repository.commit('.gitattributes', '* filter=evil=er diff=evil\n*.long filter=long\n');
  repository.commit('a.long', 'a\n');
  for (const [name, value] of Object.entries(settings)) repository.git(['config', name, value]);
  mkdirSync(join(path, '.git/info'), { recursive: true });
  writeFileSync(join(path, '.git/info/attributes'), '* filter=evil=er\n');
  writeFileSync(join(path, 'file-0.txt'), 'changed\n');
  writeFileSync(join(path, 'a.long'), 'b\n');
  rmSync(trace, { force: true });
  const all = await changedFiles(compared);
  expect(all.map((file) => file.path)).toEqual(['.gitattributes', 'a.long', 'file-0.txt']);
  for (const file of all) await patchOf(compared, file);
  expect(existsSync(trace)).toBe(false);
});
