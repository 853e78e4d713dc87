import { expect, test } from 'vitest';
import { fileLines, filesLines } from './instances-diff-text.ts';

const FILE = { path: 'a\tb\u001b[2J.ts', before: null, change: 'modified', added: 2, removed: 0, binary: false, uncommitted: true } as const;
const DIFF = { instance_id: 'work-7-a1', of: 'worktree', branch: 'work/work-7-a1', base_branch: 'main', from: 'a'.repeat(40), file: null } as const;

test('lists each changed file on one line without control characters, and shows a dash for an unknown count', () => {
  const files = [FILE, { ...FILE, path: 'c.bin', before: 'd.bin', change: 'renamed', added: null, removed: null, binary: true, uncommitted: false } as const];
  expect(filesLines({ ...DIFF, files, total: 3, added: 2, removed: 0, uncommitted: 1 }).split('\n')).toEqual([
    '3 file(s), +2 -0, 1 not committed: in its worktree, against main at aaaaaaaaaaaa',
    'ADDED  REMOVED  CHANGE                   FILE',
    '+2     -0       modified, not committed  a b.ts',
    '—      —        renamed, binary          d.bin -> c.bin',
    '(the first 2 of 3)',
  ]);
  expect(filesLines({ ...DIFF, files: [], total: 0, added: 0, removed: 0, uncommitted: 0 })).toMatch(/^work-7-a1 has no changes in its worktree/);
});

test('marks the lines of a file with signs, and shows where a line was cut', () => {
  const line = { before: null, after: 1, cut: 0 };
  const lines = [
    { ...line, kind: 'hunk', text: '@@ -1 +1,2 @@' },
    { ...line, kind: 'added', text: 'x\u001b[31my', cut: 7 },
    { ...line, kind: 'note', text: 'No newline at end of file' },
  ] as const;
  expect(fileLines({ ...FILE, lines: [...lines], offset: 0, total_lines: 3 })).toBe('@@ -1 +1,2 @@\n+xy (7 characters more)\n\\ No newline at end of file');
  expect(fileLines({ ...FILE, lines: [], offset: 0, total_lines: null })).toContain('too many changes to show');
});
