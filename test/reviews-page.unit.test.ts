import { expect, test } from 'vitest';
import type { ChangedFile } from '../web/api.ts';
import { filesOf, type TreeFolder, treeOf } from '../web/pages/reviews/file-list.tsx';
import { asText, onlyColours, painted } from '../web/pages/reviews/terminal-link.ts';

const file = (path: string): ChangedFile => ({ path, before: null, change: 'added', added: 1, removed: 0, binary: false, uncommitted: false });
const drawn = ({ name, folders, files }: TreeFolder): unknown[] => [name, ...folders.map(drawn), ...files.map(({ path }) => path)];

test('files stand under their folders; folders with one folder in them and nothing else are one line', () => {
  const tree = treeOf(['a/b/c/x.ts', 'a/b/c/y.ts', 'a/d.ts', 'e/f/z.ts', 'top.md'].map(file));
  expect(drawn(tree)).toEqual(['', ['a', ['b/c', 'a/b/c/x.ts', 'a/b/c/y.ts'], 'a/d.ts'], ['e/f', 'e/f/z.ts'], 'top.md']);
  expect(filesOf(tree).map(({ path }) => path)).toEqual(['a/b/c/x.ts', 'a/b/c/y.ts', 'a/d.ts', 'e/f/z.ts', 'top.md']);
  expect(drawn(treeOf([]))).toEqual(['']);
});

const ESC = '\u001b';

test('of what a program wrote only letters and colours are left: no title, clipboard, question, move or bell', () => {
  const log = `${ESC}]0;title\u0007a${ESC}]52;c;aGk=${ESC}\\b${ESC}[6n${ESC}[2J${ESC}[10;3Hc${ESC}[1;31mred${ESC}[0m${ESC}c${ESC}Pq\u0007d\u0007\r\n${ESC}]8;;x`;
  expect(onlyColours(log)).toBe(`abc${ESC}[1;31mred${ESC}[0md\n`);
  expect(asText(`${log}${' '.repeat(9)}\n\n`)).toBe('abcredd');
});

test('a screen is painted whole, with its cursor where it stands', () => {
  expect(painted({ text: 'a\nb\n', cursor: { column: 2, row: 1 } })).toBe(`${ESC}[0m${ESC}[3J${ESC}[2J${ESC}[Ha\r\nb${ESC}[0m${ESC}[2;3H${ESC}[?25h`);
  expect(painted({ text: '', cursor: null })).toContain(`${ESC}[?25l`);
});
