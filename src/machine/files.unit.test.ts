import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../testing/store/database.ts';
import { fileDisk } from './files.ts';

const folder = () => realpathSync(temporaryFolder());

/** The pid of a process that has ended. */
const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

const PART = /\.(\d+)\.([0-9a-f]{24})\.tmp$/;

test('replaces a file as a whole and leaves nothing next to it', async () => {
  const place = folder();
  const path = join(place, 'state.json');
  await fileDisk.replaceFile(path, 'one');
  await fileDisk.replaceFile(path, 'two');
  expect(readFileSync(path, 'utf8')).toBe('two');
  expect(readdirSync(place)).toEqual(['state.json']);
});

test('replaces a link in place of a file and leaves its target unchanged', async () => {
  const place = folder();
  writeFileSync(join(place, 'elsewhere'), 'not ours');
  symlinkSync(join(place, 'elsewhere'), join(place, 'state.json'));
  await fileDisk.replaceFile(join(place, 'state.json'), 'ours');
  expect(readFileSync(join(place, 'elsewhere'), 'utf8')).toBe('not ours');
  expect(readFileSync(join(place, 'state.json'), 'utf8')).toBe('ours');
});

test('does not write a file in place of a folder, and removes the temporary file', async () => {
  const place = folder();
  mkdirSync(join(place, 'state.json'));
  await expect(fileDisk.replaceFile(join(place, 'state.json'), 'text')).rejects.toThrow();
  expect(readdirSync(place)).toEqual(['state.json']);
});

test('a missing file is null; a pipe, a folder, a link to itself and a file that is too large or endless are refused immediately', async () => {
  const place = folder();
  expect(await fileDisk.readText(join(place, 'nothing'))).toBeNull();
  execFileSync('mkfifo', [join(place, 'pipe')]);
  symlinkSync('/dev/zero', join(place, 'endless'));
  symlinkSync('loop', join(place, 'loop'));
  for (const name of ['pipe', 'endless', 'loop']) await expect(fileDisk.readText(join(place, name))).rejects.toThrow('is not a file');
  await expect(fileDisk.readText(place)).rejects.toThrow('is not a file');
  writeFileSync(join(place, 'large'), 'x'.repeat(1024 * 1024 + 1));
  await expect(fileDisk.readText(join(place, 'large'), 1024 * 1024)).rejects.toThrow('is larger than 1 MB');
});

test('removes temporary files of a dead process, even one with our pid, and keeps those of a running one', async () => {
  const place = folder();
  const mine = fileDisk.besideName(join(place, 'state.json'));
  const [, pid, chance] = PART.exec(mine) ?? [];
  expect(pid).toBe(String(process.pid));
  const named = (owner: number, tail: string) => `.state.json.${owner}.${tail}.tmp`;
  const before = `${'0'.repeat(12)}${chance?.slice(12)}`;
  const dead = deadPid();
  writeFileSync(mine, '');
  writeFileSync(join(place, named(process.ppid, before)), '');
  writeFileSync(join(place, named(process.pid, before)), '');
  mkdirSync(join(place, named(dead, before)));
  writeFileSync(join(place, named(dead, before), 'half'), '');
  for (const name of ['state.json', 'notes.tmp', `.mine.${dead}.tmp`]) writeFileSync(join(place, name), '');
  await fileDisk.removeLeftovers(place);
  expect(readdirSync(place).sort()).toEqual([basename(mine), named(process.ppid, before), 'state.json', 'notes.tmp', `.mine.${dead}.tmp`].sort());
});

test('creates nested folders, but does not follow a symbolic link', async () => {
  const root = folder();
  const outside = folder();
  expect(await fileDisk.makeFolder(root, 'a', 'b')).toBe(join(root, 'a', 'b'));
  expect(await fileDisk.makeFolder(root, 'a', 'b')).toBe(join(root, 'a', 'b'));
  symlinkSync(outside, join(root, 'link'));
  await expect(fileDisk.makeFolder(root, 'link', 'c')).rejects.toThrow(`${join(root, 'link')} is a link to ${outside}`);
  expect(readdirSync(outside)).toEqual([]);
});

test('moves a folder only to an unused path', async () => {
  const root = folder();
  const made = (name: string) => {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, 'of'), name);
    return join(root, name);
  };
  expect(await fileDisk.moveFolder(made('first'), join(root, 'target'))).toBe(true);
  expect(await fileDisk.moveFolder(made('second'), join(root, 'target'))).toBe(false);
  writeFileSync(join(root, 'file'), 'a file');
  expect(await fileDisk.moveFolder(join(root, 'second'), join(root, 'file'))).toBe(false);
  expect(readFileSync(join(root, 'target', 'of'), 'utf8')).toBe('first');
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe('a file');
  expect(existsSync(join(root, 'second', 'of'))).toBe(true);
});

test('removing something that does not exist is not a failure', async () => {
  const root = folder();
  await fileDisk.removeFile(join(root, 'nothing'));
  await fileDisk.removeFolder(join(root, 'nothing'));
  expect(await fileDisk.isFolder(join(root, 'nothing'))).toBe(false);
});
