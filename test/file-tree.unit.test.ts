import { expect, test } from 'vitest';
import type { ChangedFile } from '../web/api.ts';
import { filesOf, type TreeFolder, treeOf } from '../web/pages/reviews/file-tree.ts';

const file = (path: string): ChangedFile => ({ path, before: null, change: 'added', added: 1, removed: 0, binary: false, uncommitted: false });
const drawn = ({ name, folders, files }: TreeFolder): unknown[] => [name, ...folders.map(drawn), ...files.map(({ path }) => path)];

test('files are listed under their folders, and a chain of single folders is one line', () => {
  const tree = treeOf(['a/b/c/x.ts', 'a/b/c/y.ts', 'a/d.ts', 'e/f/z.ts', 'top.md'].map(file));
  expect(drawn(tree)).toEqual(['', ['a', ['b/c', 'a/b/c/x.ts', 'a/b/c/y.ts'], 'a/d.ts'], ['e/f', 'e/f/z.ts'], 'top.md']);
  expect(filesOf(tree).map(({ path }) => path)).toEqual(['a/b/c/x.ts', 'a/b/c/y.ts', 'a/d.ts', 'e/f/z.ts', 'top.md']);
  expect(drawn(treeOf([]))).toEqual(['']);
});
