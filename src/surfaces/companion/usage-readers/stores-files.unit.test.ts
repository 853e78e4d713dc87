import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testBatch } from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { type FileCursor, filesUnder, readFiles } from './stores.ts';

test('a file that cannot be read is named by its error, keeps its place, and holds up no other', () => {
  const folder = temporaryFolder();
  for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, name), name.repeat(9));
  const missed: string[] = [];
  const batch = { ...testBatch(), missed: (code: string) => void missed.push(code) };
  const read = ({ path, size }: { path: string; size: number }): FileCursor => {
    if (path.endsWith('b')) throw Object.assign(new Error(), { code: 'EACCES' });
    return { offset: size };
  };
  const cursors = readFiles(
    filesUnder(folder, () => true),
    { [join(folder, 'b')]: { offset: 4 } },
    batch,
    read,
  );
  expect([cursors, missed]).toEqual([
    { [join(folder, 'a')]: { offset: 9 }, [join(folder, 'b')]: { offset: 4 }, [join(folder, 'c')]: { offset: 9 } },
    ['EACCES'],
  ]);
});

test('links are not followed, be it in circles or elsewhere', () => {
  const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(folder, 'run'));
  writeFileSync(join(folder, 'run/a.jsonl'), '');
  writeFileSync(join(elsewhere, 'b.jsonl'), '');
  symlinkSync(folder, join(folder, 'run/loop'));
  symlinkSync(elsewhere, join(folder, 'out'));
  symlinkSync(join(elsewhere, 'b.jsonl'), join(folder, 'c.jsonl'));
  expect(filesUnder(folder, () => true).map(({ path }) => path)).toEqual([join(folder, 'run/a.jsonl')]);
});
