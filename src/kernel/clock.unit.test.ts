import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { testClock } from '../testing/clock.ts';
import { fileClock, systemClock } from './clock.ts';

test('runs a task once when its time has come, unless it is cancelled', () => {
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

test('runs a task on the real clock when its time has come', async () => {
  const started = performance.now();
  await new Promise<void>((resolve) => systemClock.after(20, resolve));
  expect(performance.now() - started).toBeGreaterThan(10);
});

test('on a file clock, a task runs when the file reaches its time, or in real time', async () => {
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
