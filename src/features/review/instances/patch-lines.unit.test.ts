import { expect, test } from 'vitest';
import { patchLines } from './patch-lines.ts';

const ALL = { offset: 0, limit: 100 };
const PATCH = [
  'diff --git a/x b/x',
  '--- a/x',
  '+++ b/x',
  '@@ -1,2 +1,3 @@ name',
  ' same',
  '--- a/not a header',
  '+++ b/nor this',
  '+more',
  '\\ No newline at end of file',
  'diff --git a/y b/y',
  '@@ -9 +10 @@',
  '-old',
  '+new',
  '',
].join('\n');

test('lines have their old and new numbers; a line of a hunk stays a line even if it looks like a header', () => {
  const { lines, total } = patchLines(PATCH, ALL);
  expect(total).toBe(9);
  expect(lines.map(({ kind, before, after, text }) => [kind, before, after, text])).toEqual([
    ['hunk', null, null, '@@ -1,2 +1,3 @@ name'],
    ['context', 1, 1, 'same'],
    ['removed', 2, null, '-- a/not a header'],
    ['added', null, 2, '++ b/nor this'],
    ['added', null, 3, 'more'],
    ['note', null, null, 'No newline at end of file'],
    ['hunk', null, null, '@@ -9 +10 @@'],
    ['removed', 9, null, 'old'],
    ['added', null, 10, 'new'],
  ]);
});

test('lines are returned in pages with their numbers in the whole file; a very long line is cut, with the number of cut characters', () => {
  expect(patchLines(PATCH, { offset: 3, limit: 2 })).toMatchObject({ total: 9, lines: [{ after: 2 }, { after: 3 }] });
  expect(patchLines(PATCH, { offset: 50, limit: 2 })).toEqual({ total: 9, lines: [] });
  expect(patchLines(`@@ -0,0 +1 @@\n+${'x'.repeat(5_000)}`, ALL).lines[1]).toMatchObject({ text: 'x'.repeat(2_000), cut: 3_000 });
  expect(patchLines('Binary files a/x and b/x differ\n', ALL)).toEqual({ lines: [], total: 0 });
});
