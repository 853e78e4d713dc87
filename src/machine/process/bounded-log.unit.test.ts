import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/store/database.ts';
import { type BoundedLogOptions, createBoundedLog, tailOf } from './bounded-log.ts';

function create(more: Partial<BoundedLogOptions> = {}) {
  const folder = join(temporaryFolder(), 'logs');
  let time = Date.UTC(2026, 0, 1);
  const path = join(folder, 'one.log');
  const log = createBoundedLog({ path, now: () => time, ...more });
  return { folder, path, log, pass: (ms: number) => (time += ms) };
}
const mode = (path: string) => statSync(path).mode & 0o777;

test('stores lines with their time, readable only by the owner', async () => {
  const { log, folder, path } = create();
  log.write('one\n\ntwo');
  expect(await log.tail(10)).toEqual(['2026-01-01T00:00:00.000Z one', '2026-01-01T00:00:00.000Z two']);
  expect([mode(folder), mode(path)]).toEqual([0o700, 0o600]);
  expect(await tailOf(path, 1)).toEqual(['2026-01-01T00:00:00.000Z two']);
  expect(await tailOf(`${path}.missing`, 5)).toEqual([]);
  expect(await tailOf(path, 0)).toEqual([]);
});

test('keeps two generations within the limit, with the newest lines', async () => {
  const { log, folder, pass } = create({ maxBytes: 1_000 });
  for (let at = 0; at < 500; at++) {
    log.write(`line ${at}`);
    if (at % 50 === 0) await log.flush();
    pass(100);
  }
  const lines = await log.tail(30);
  expect(lines.at(-1)).toContain('line 499');
  expect(lines.length).toBe(30);
  expect(readdirSync(folder).sort()).toEqual(['one.log', 'one.log.1']);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(1_000);
});

test('keeps a limited part of a flood and reports how much was dropped', async () => {
  const { log, path, pass } = create();
  for (let at = 0; at < 1_000_000; at++) log.write('flood');
  await log.flush();
  expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThan(2_010);
  expect((await log.tail(1))[0]).toContain('998000 lines dropped');
  pass(10_000);
  log.write('after');
  expect((await log.tail(1))[0]).toContain('after');
});

test('shortens a long line and removes terminal control characters', async () => {
  const { log } = create();
  log.write('x'.repeat(100_000));
  log.write('\x1b[31mred\x1b[0m\x07 \u009bdone');
  const [long = '', coloured] = await log.tail(2);
  expect(long.length).toBeLessThan(2_100);
  expect(long).toMatch(/x … \(\d+ more characters\)$/);
  expect(coloured).toBe('2026-01-01T00:00:00.000Z red   done');
});

test('replaces secrets everywhere, also line by line and as JSON', async () => {
  const key = '-----BEGIN KEY-----\nabcdefghijkl\nmnop"qrstuv\n-----END KEY-----';
  const { log } = create({ secrets: ['sk-12345678', 'sk-12345678-long', 'short', key] });
  log.write('a sk-12345678 b sk-12345678-long c short');
  log.write(`key: ${key}`);
  log.write(JSON.stringify({ key }));
  log.write(`${'y'.repeat(15_995)}sk-12345678`);
  const text = (await log.tail(20)).join('\n');
  expect(text).toContain('a [redacted] b [redacted] c short');
  for (const part of ['sk-1', '-long', 'abcdefghijkl', 'qrstuv', 'BEGIN']) expect(text).not.toContain(part);
  expect(log.clean('x sk-12345678\ny')).toBe('x [redacted] y');
});

test('a log that cannot be written affects nothing else', async () => {
  const { path } = create();
  const log = createBoundedLog({ path: join(path, 'x', '\0') });
  log.write('lost');
  expect(await log.tail(5)).toEqual([]);
});
