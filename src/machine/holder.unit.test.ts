import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startOf } from './group.ts';
import { hasEnded, THIS_PROCESS } from './holder.ts';

test('a process is known to have ended when it has, and when its number is of another one by now', async () => {
  expect(hasEnded(THIS_PROCESS)).toBe(false);
  expect(hasEnded(null)).toBe(false);
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
  await once(child, 'spawn');
  const holder = `${child.pid}:${startOf(child.pid as number)}`;
  expect(hasEnded(holder)).toBe(false);
  expect(hasEnded(`${process.pid}:1`)).toBe(process.platform === 'linux');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(hasEnded(holder)).toBe(true);
});
