import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../testing/runs.ts';
import { testBatch } from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { type FileCursor, filesUnder, linesFrom, readFiles } from './log-files.ts';

test('reports an unreadable file with its error, keeps its cursor, and still reads the other files', () => {
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

test('follows no links, neither circular links nor links to other folders', () => {
  const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(folder, 'run'));
  writeFileSync(join(folder, 'run/a.jsonl'), '');
  writeFileSync(join(elsewhere, 'b.jsonl'), '');
  symlinkSync(folder, join(folder, 'run/loop'));
  symlinkSync(elsewhere, join(folder, 'out'));
  symlinkSync(join(elsewhere, 'b.jsonl'), join(folder, 'c.jsonl'));
  expect(filesUnder(folder, () => true).map(({ path }) => path)).toEqual([join(folder, 'run/a.jsonl')]);
});

test('reads whole lines from any offset and across chunks, and leaves out a last line without a line end', () => {
  const path = join(temporaryFolder(), 'lines');
  const line = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(1_000, 65_535, 65_536, 65_537, 200_000).map((length) => 'ä'.repeat(length / 2)),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), fc.nat(5), (texts, from) => {
      const clean = texts.map((text) => text.replaceAll('\n', ''));
      writeFileSync(path, `${clean.map((text) => `${text}\n`).join('')}unfinished`);
      const all = [...linesFrom(path, 0)];
      expect(all.map(({ bytes }) => bytes?.toString('utf8'))).toEqual(clean.map((text) => Buffer.from(text).toString('utf8')));
      const start = all[from]?.start;
      if (start !== undefined) expect([...linesFrom(path, start)]).toEqual(all.slice(from));
    }),
    runs(15),
  );
});

test('skips a line that is too long to contain usage', () => {
  const path = join(temporaryFolder(), 'lines');
  writeFileSync(path, `one\n${'x'.repeat(300_000)}\nthree\n`);
  const lines = [...linesFrom(path, 0, 1_000)];
  expect(lines.map(({ bytes }) => bytes?.toString())).toEqual(['one', undefined, 'three']);
  expect([...linesFrom(path, lines[1]?.end ?? 0, 1_000)].map(({ bytes }) => bytes?.toString())).toEqual(['three']);
});
