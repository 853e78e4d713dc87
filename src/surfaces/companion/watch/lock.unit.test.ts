import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { takeLock } from './lock.ts';

test('throws an error for a lock that cannot be read, instead of waiting for it', () => {
  const path = join(temporaryFolder(), 'lock');
  mkdirSync(path);
  expect(() => takeLock(path)).toThrow('EISDIR');
});

test('only one process holds the lock, and an abandoned lock is taken over', () => {
  const path = join(temporaryFolder(), 'lock');
  const taken = () => {
    const lock = takeLock(path);
    const held = 'heldBy' in lock ? undefined : readFileSync(path, 'utf8');
    if (!('heldBy' in lock)) lock.release();
    return held;
  };
  const first = takeLock(path);
  expect(takeLock(path)).toEqual({ heldBy: process.pid });
  if (!('heldBy' in first)) first.release();
  // Locks that were left by an ended process or have a reused process id, and invalid locks.
  for (const left of ['999999:1:x', `${process.pid}:1:x`, '', 'nonsense']) {
    writeFileSync(path, left);
    expect(taken(), left).toBeDefined();
  }
  // A lock that was not renewed for so long that its process id may belong to another program.
  writeFileSync(path, taken() ?? '');
  expect(taken()).toBeUndefined();
  utimesSync(path, 1, 1);
  expect(taken()).toBeDefined();
  expect(readdirSync(join(path, '..'))).toEqual([]);
});
