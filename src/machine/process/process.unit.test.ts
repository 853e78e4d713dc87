import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/store/database.ts';
import { FolderMissing, ProgramMissing, ProgramTimedOut, runProgram } from './process.ts';

const OPTIONS = { cwd: tmpdir(), timeoutMs: 10_000, maxOutputBytes: 100_000 };
const node = (script: string, options = {}) => runProgram(process.execPath, ['-e', script], { ...OPTIONS, ...options });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

test('a program gets its exact arguments, without a shell', async () => {
  const { stdout, code } = await runProgram(process.execPath, ['-p', 'process.argv[1]', '$(id); `id` "*"'], OPTIONS);
  expect([stdout, code]).toEqual(['$(id); `id` "*"\n', 0]);
});

test('passes input, output and exit code through', async () => {
  const ran = await node('process.stdin.on("data", (text) => { console.error("e" + text); process.exitCode = 3; })', { input: 'x' });
  expect(ran).toEqual({ code: 3, stdout: '', stderr: 'ex\n', truncated: false });
});

test('drops output beyond the limit and reports that', async () => {
  const ran = await node('process.stdout.write("x".repeat(1_000_000))', { maxOutputBytes: 1_000 });
  expect([ran.stdout.length, ran.truncated, ran.code]).toEqual([1_000, true, 0]);
});

test('distinguishes a missing program from a missing folder', async () => {
  await expect(runProgram('covenant-no-such-program', [], OPTIONS)).rejects.toThrow(ProgramMissing);
  await expect(runProgram('git', [], { ...OPTIONS, cwd: '/no/such/folder' })).rejects.toThrow(FolderMissing);
});

test('ends a program that takes too long with everything it started, even if that ignores signals', async () => {
  const file = join(temporaryFolder(), 'pid');
  const stubborn = `process.on('SIGTERM', () => {}); require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1000)`;
  const parent = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { stdio: 'inherit' }); setInterval(() => {}, 1000)`;
  const run = node(parent, { timeoutMs: 2_000 });
  await expect(run).rejects.toThrow(ProgramTimedOut);
  expect(existsSync(file)).toBe(true);
  await expect.poll(() => isAlive(Number(readFileSync(file, 'utf8')))).toBe(false);
});

test('an abort ends the program, and the call throws the reason of the abort', async () => {
  const controller = new AbortController();
  const run = node('setInterval(() => {}, 1000)', { signal: controller.signal });
  setTimeout(() => controller.abort(new Error('enough')), 100);
  await expect(run).rejects.toThrow('enough');
  await expect(node('', { signal: controller.signal })).rejects.toThrow('enough');
});

test('does not wait for a process that the program has left behind and that still has its pipes open', async () => {
  const { stdout } = await node(
    `require('child_process').spawn('sleep', ['3'], { stdio: ['ignore', 'inherit', 'inherit'], detached: true }).unref(); console.log('done')`,
  );
  expect(stdout).toBe('done\n');
});
