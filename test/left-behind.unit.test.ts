import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endLeftBehind } from '../scripts/left-behind.ts';
import { isAlive } from '../src/testing/programs/processes.ts';

const folderOfARun = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'cov-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Starts a process that runs for this time. Waits until the process has reported its start, because its environment is not final before. */
async function sleeper(ms: number, env: NodeJS.ProcessEnv, ...args: string[]): Promise<number> {
  const code = `process.stdout.write('runs'); setTimeout(() => {}, ${ms})`;
  const child = spawn(process.execPath, ['-e', code, ...args], { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child.pid as number;
}

test.runIf(process.platform === 'linux')('reports and ends processes that still run after a test run', async () => {
  const folder = folderOfARun();
  const [named, inherited, stranger] = [await sleeper(60_000, {}, folder), await sleeper(60_000, { TMPDIR: folder }), await sleeper(60_000, {})];
  const found = await endLeftBehind(folder, 0);
  expect(found.map((line) => Number(line.split(' ')[0])).sort()).toEqual([named, inherited].sort());
  expect(found.find((line) => line.startsWith(`${named} `))).toContain(folder);
  await expect.poll(() => [named, inherited, stranger].map(isAlive)).toEqual([false, false, true]);
});

test.runIf(process.platform === 'linux')('a process that ends within the grace period is not reported', async () => {
  const folder = folderOfARun();
  await sleeper(300, { TMPDIR: folder });
  expect(await endLeftBehind(folder)).toEqual([]);
});
