import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startOf } from './group.ts';
import { hasEnded, RUN_BY, THIS_PROCESS } from './holder.ts';

async function waiting(env: NodeJS.ProcessEnv = {}): Promise<{ child: ChildProcess; end: () => Promise<unknown> }> {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'], env: { ...process.env, ...env } });
  await once(child, 'spawn');
  return { child, end: async () => child.kill('SIGKILL') && (await once(child, 'exit')) };
}

test.runIf(process.platform === 'linux')('a holder has ended if its process and everything that it started have ended, or if its pid was reused', async () => {
  expect(hasEnded(THIS_PROCESS)).toBe(false);
  expect(hasEnded(null)).toBe(false);
  expect(hasEnded(`${process.pid}:1`)).toBe(true);
  const { child, end } = await waiting();
  const holder = `${child.pid}:${startOf(child.pid as number)}`;
  const run = await waiting({ [RUN_BY]: holder });
  expect(hasEnded(holder)).toBe(false);
  await end();
  expect(hasEnded(holder)).toBe(false);
  await run.end();
  expect(hasEnded(holder)).toBe(true);
});
