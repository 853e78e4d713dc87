import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../testing/runs.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { linesFrom } from './stores.ts';

test('whole lines from any line on, over the edges of what is read at once; the last only when it has ended', () => {
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

test('a line that is longer than anything looked for is passed over', () => {
  const path = join(temporaryFolder(), 'lines');
  writeFileSync(path, `one\n${'x'.repeat(300_000)}\nthree\n`);
  const lines = [...linesFrom(path, 0, 1_000)];
  expect(lines.map(({ bytes }) => bytes?.toString())).toEqual(['one', undefined, 'three']);
  expect([...linesFrom(path, lines[1]?.end ?? 0, 1_000)].map(({ bytes }) => bytes?.toString())).toEqual(['three']);
});
