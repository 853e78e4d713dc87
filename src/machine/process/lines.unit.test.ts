import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { type LineOptions, readLines } from './lines.ts';

async function linesOf(chunks: Iterable<Buffer>, more: Partial<LineOptions> = {}): Promise<string[]> {
  const lines: string[] = [];
  const line = (text: string) => {
    lines.push(text);
    return 0;
  };
  await readLines(Readable.from(chunks), { maxBytes: 1_000, tooLong: 'cut', share: 1, line, ...more });
  return lines;
}
const TEXT = 'zwölf Boxkämpfer\r\n\n🦊🦊🦊\nlast, without an end';
const LINES = ['zwölf Boxkämpfer', '', '🦊🦊🦊', 'last, without an end'];

test('lines do not depend on where chunks end, even inside a character', async () => {
  const bytes = Buffer.from(TEXT);
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
    expect(await linesOf(chunks)).toEqual(LINES);
  }
});

test('a line that is too long is shortened, or stops the reading', async () => {
  const chunks = [Buffer.from('a'.repeat(700)), Buffer.from('b'.repeat(700)), Buffer.from('\nnext\n'), Buffer.from(`${'c'.repeat(2_000)}\n`)];
  expect((await linesOf(chunks)).map((line) => line.length)).toEqual([1_000, 4, 1_000]);
  let told = 0;
  expect(await linesOf([Buffer.from('first\n'), ...chunks], { tooLong: () => told++ })).toEqual(['first']);
  expect(told).toBe(1);
});

const busy = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until; );
};

test('unrequested lines take no more than their share of the time; requested lines do not count', async () => {
  for (const weight of [1, 0]) {
    const stream = new PassThrough();
    let lines = 0;
    let slowed = 0;
    const done = readLines(stream, {
      maxBytes: 1_000,
      tooLong: 'cut',
      share: 0.01,
      line: () => {
        busy(1);
        lines++;
        return weight;
      },
      slowed: () => slowed++,
    });
    stream.write('junk\n'.repeat(600));
    // The writer may use 250 ms in a burst, then one hundredth of the time.
    if (weight === 0) await expect.poll(() => lines, { timeout: 20_000 }).toBe(600);
    else await expect.poll(() => stream.isPaused() && slowed > 0, { timeout: 20_000 }).toBe(true);
    if (weight === 1) expect(lines).toBeLessThan(300);
    else expect(slowed).toBe(0);
    stream.destroy();
    await done;
  }
});

test('slow lines are read in slices', async () => {
  const stream = new PassThrough();
  const slow = () => {
    busy(0.2);
    return 0;
  };
  const done = readLines(stream, { maxBytes: 1_000, tooLong: 'cut', share: 1, line: slow });
  stream.end('x\n'.repeat(1_000));
  let turns = 0;
  let isDone = false;
  done.then(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  expect(turns).toBeGreaterThan(5);
});
