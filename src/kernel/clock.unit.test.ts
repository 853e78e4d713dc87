import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { testClock } from '../testing/clock.ts';
import { fileClock, systemClock } from './clock.ts';

test('a task is called once, when its time has come by the clock, unless it is called off', () => {
  const clock = testClock();
  const done: string[] = [];
  clock.after(1_000, () => done.push('due'));
  clock.after(1_000, () => done.push('called off'))();
  clock.advance(900);
  expect(done).toEqual([]);
  clock.advance(100);
  clock.advance(5_000);
  expect(done).toEqual(['due']);
});

test('on the real clock it comes by itself', async () => {
  const started = performance.now();
  await new Promise<void>((resolve) => systemClock.after(20, resolve));
  expect(performance.now() - started).toBeGreaterThan(10);
});

test('on a clock that stands in a file it comes when the file says so, and by itself', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-clock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'clock');
  writeFileSync(file, '1000');
  const clock = fileClock(file);
  await new Promise<void>((resolve) => clock.after(20, resolve));
  const moved = new Promise<void>((resolve) => clock.after(3_600_000, resolve));
  writeFileSync(file, '3601000');
  await moved;
});
