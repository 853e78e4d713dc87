import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryRepository } from '../testing/scenes/repository.ts';
import { LONGEST, MAX_EDITS } from '../wire/hook-question.ts';
import { questionFrom } from './hook-question.ts';

const asked = (paths: readonly string[], more: { unread?: boolean; folder?: string } = {}) => {
  const { path: folder } = temporaryRepository();
  return questionFrom({ folder, files: paths.map((path) => ({ path })), ...more }).edits;
};
const UNREAD = { repo: 'app', path: '.', tree: true, unread: true };

test('drops an impossible file name, and asks about the other files', () => {
  expect(asked(['a\0b', 'c\ud800d', 'e.ts'])).toEqual([{ repo: 'app', path: 'e.ts' }]);
});

test('asks about the deepest folder that fits, and everything below it, if a path is too long', () => {
  const folders = 'folder/'.repeat(200);
  const [edit, ...none] = asked([`${folders}a.ts`]) ?? [];
  expect(none).toEqual([]);
  expect(edit).toEqual({ repo: 'app', path: expect.stringMatching(/^(folder\/)+folder$/), tree: true });
  expect(edit?.path.length).toBeLessThanOrEqual(LONGEST.path);
  expect(`${edit?.path}/folder`.length).toBeGreaterThan(LONGEST.path);
  expect(asked(['x'.repeat(LONGEST.path)])).toEqual([{ repo: 'app', path: 'x'.repeat(LONGEST.path) }]);
  expect(asked([`${'x'.repeat(LONGEST.path)}y/z`])).toEqual([{ repo: 'app', path: '.', tree: true }]);
});

test('asks about the whole repository if there are too many files or unreadable ones', () => {
  const names = Array.from({ length: MAX_EDITS + 1 }, (_, index) => `f${index}`);
  expect(asked(names.slice(1))).toHaveLength(MAX_EDITS);
  expect(asked(names.slice(1))?.some(({ unread }) => unread)).toBe(false);
  const many = asked(names);
  expect(many).toHaveLength(MAX_EDITS);
  expect(many?.slice(0, 2)).toEqual([UNREAD, { repo: 'app', path: 'f0' }]);
  expect(asked([], { unread: true })).toEqual([UNREAD]);
  const other = join(temporaryRepository().path, 'src');
  mkdirSync(other);
  expect(asked([join(other, 'a.ts')], { unread: true, folder: '/' })).toEqual([UNREAD, { repo: 'app', path: 'src/a.ts' }]);
  expect(asked([], { unread: true, folder: '/' })).toBeUndefined();
});

test('does not look up a folder whose name is too long', () => {
  expect(questionFrom({ folder: `/${'a/'.repeat(1_000_000)}`, files: [{ path: 'b' }] }).edits).toBeUndefined();
});
