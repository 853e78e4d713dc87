import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { childProgram, isAlive, processesWith } from '../../testing/programs/processes.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { type Child, type ChildSpec, startChild } from './child.ts';
import { FolderMissing, ProgramMissing, ProgramNotStarted } from './process.ts';

let count = 0;
async function start(file: string, args: string[], more: Partial<ChildSpec> = {}): Promise<Child & { marker: string }> {
  const marker = `child-test-${process.pid}-${++count}.`;
  const child = await startChild({ file, args, env: { PATH: process.env.PATH }, cwd: tmpdir(), marker, ...more });
  onTestFinished(() => child.stop(0));
  return { ...child, marker };
}
const sh = (script: string) => start('sh', ['-c', script]);
const firstLine = async (child: Child) => String((await once(child.stdout, 'data'))[0]).trim();
const groupOf = (pid: number) => Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[2]);

test('a child ends when its input is closed, and its exit is reported', async () => {
  const child = await start('cat', []);
  child.stdin.write('hello\n');
  expect(await firstLine(child)).toBe('hello');
  await child.stop();
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(isAlive(child.pid)).toBe(false);
});

test('a child runs in its own process group, and everything it started ends with it [gateway.process.own-group]', async () => {
  const child = await sh('sleep 1000 & echo $!; wait');
  const grandchild = Number(await firstLine(child));
  expect([groupOf(child.pid), groupOf(grandchild)]).toEqual([child.pid, child.pid]);
  expect(groupOf(process.pid)).not.toBe(child.pid);
  await child.stop(50);
  expect([child.pid, grandchild].map(isAlive)).toEqual([false, false]);
});

test('kills a child that ignores the end of input and SIGTERM, with its grandchildren inside and outside the group [gateway.process.own-group]', async () => {
  const child = await start(process.execPath, [childProgram('ignores-sigterm')]);
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'family' } })}\n`);
  const family = JSON.parse(JSON.parse(await firstLine(child)).result.content[0].text) as number[];
  expect(family.map(isAlive)).toEqual([true, true, true, true]);
  expect(family.map(groupOf).slice(0, 2)).toEqual([child.pid, child.pid]);
  await child.stop(50);
  expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
  expect(family.map(isAlive)).toEqual([false, false, false, false]);
  expect(processesWith(child.marker)).toEqual([]);
});

test('finds a descendant with another group and an empty environment through its parent', async () => {
  const child = await sh(`trap '' TERM; env -i PATH="$PATH" setsid sh -c 'trap "" TERM; echo $$; exec sleep 1000' & wait; wait`);
  const grandchild = Number(await firstLine(child));
  expect(groupOf(grandchild)).not.toBe(child.pid);
  await child.stop(50);
  expect([child.pid, grandchild].map(isAlive)).toEqual([false, false]);
});

test('automatically ends the processes that a child leaves behind, even if they ignore signals', async () => {
  const child = await sh(`trap '' TERM; sleep 1000 >/dev/null 2>&1 & echo $!; exit 3`);
  const grandchild = Number(await firstLine(child));
  expect(await child.exited).toEqual({ code: 3, signal: null });
  await expect.poll(() => isAlive(grandchild), { timeout: 10_000 }).toBe(false);
  await child.stop();
});

test('stop may be called twice, and after the child has ended', async () => {
  const child = await sh('exec sleep 1000');
  await Promise.all([child.stop(), child.stop()]);
  expect(isAlive(child.pid)).toBe(false);
  expect(await child.exited).toEqual({ code: null, signal: 'SIGTERM' });
  await expect(child.stop()).resolves.toBeUndefined();
});

test('keeps no descriptor open after a child has ended, even if a process that cannot be found still has the other end of the pipe', async () => {
  // Another session, no parent, an empty environment: nothing identifies it as ours.
  const child = await sh(`env -i PATH="$PATH" setsid sh -c 'sleep 1000 & echo $!'; exec cat`);
  const lost = Number(await firstLine(child));
  onTestFinished(() => void process.kill(lost, 'SIGKILL'));
  await child.stop();
  expect(isAlive(lost)).toBe(true);
  expect([child.stdin, child.stdout, child.stderr].map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
});

test('reads output that was written before the end', async () => {
  const child = await sh('head -c 300000 /dev/zero');
  let size = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
  });
  await child.exited;
  await child.stop();
  expect(size).toBe(300_000);
});

test('distinguishes why a program cannot be started', async () => {
  const file = join(temporaryFolder(), 'nobody-may-run-this');
  await expect(start('covenant-no-such-program', [])).rejects.toThrow(ProgramMissing);
  await expect(start('cat', [], { cwd: '/no/such/folder' })).rejects.toThrow(FolderMissing);
  await expect(start('cat', [], { cwd: process.execPath })).rejects.toThrow(FolderMissing);
  await expect(start(tmpdir(), [])).rejects.toThrow(ProgramNotStarted);
  await expect(start('cat', ['a\0b'])).rejects.toThrow(ProgramNotStarted);
  await expect(start(file, [])).rejects.toThrow(`${file} was not found`);
});

test('a child gets exactly the given environment and no variable of the server', async () => {
  const child = await start('env', [], { env: { PATH: process.env.PATH, ONE: '1' } });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  const names = text
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0]);
  expect(names.sort()).toEqual(['COVENANT_CHILD_OF', 'ONE', 'PATH']);
});
