import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { childProgram, isAlive, processesWith } from '../../testing/programs/processes.ts';
import { createChildren } from './children.ts';

/** Everything a dead server left behind must be gone within this time. */
const GONE_MS = 5_000;
const CAT = ['cat'];
const STUBBORN = [process.execPath, childProgram('ignores-sigterm')];

interface HolderReport {
  mark: string;
  reaper: number;
  pids: number[];
}

/** A process with children like the server's. */
async function holder(...programs: string[][]): Promise<{ child: ChildProcess; told: HolderReport; next(): Promise<HolderReport> }> {
  const child = spawn(process.execPath, [childProgram('holder'), JSON.stringify(programs)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value)) as HolderReport;
  const told = await next();
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    await nothingIsLeft(told.mark);
  });
  return { child, told, next };
}

const nothingIsLeft = (mark: string) => expect.poll(() => processesWith(mark), { timeout: GONE_MS, interval: 50 }).toEqual([]);
/** Whether all processes have started. The stubborn child counts as four processes, and the reaper as one. */
const isComplete = (mark: string, size: number) => expect.poll(() => processesWith(mark).length, { timeout: 15_000, interval: 50 }).toBe(size);

/** Whether the process handles the signal. Until the reaper does, a signal ends it, and the server starts another. */
function handles(pid: number, signal: number): boolean {
  const caught = /^SigCgt:\s+([0-9a-f]+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${caught}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

test('a stopping server ends its children, and the reaper exits immediately [gateway.process.dies-with-server]', async () => {
  const { child, told } = await holder(CAT, STUBBORN);
  await isComplete(told.mark, 6);
  child.kill('SIGTERM');
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect(processesWith(told.mark)).toEqual([]);
});

test('a killed reaper is replaced, and the new reaper knows the existing children', async () => {
  const { child, told, next } = await holder(STUBBORN);
  await isComplete(told.mark, 5);
  process.kill(told.reaper, 'SIGKILL');
  const { reaper } = await next();
  expect(reaper).not.toBe(told.reaper);
  child.kill('SIGKILL');
  await nothingIsLeft(told.mark);
});

test('a signal for the server does not end the reaper', async () => {
  const { child, told } = await holder(STUBBORN);
  await isComplete(told.mark, 5);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  await expect.poll(() => signals.every((signal) => handles(told.reaper, constants.signals[signal]))).toBe(true);
  for (const signal of signals) process.kill(told.reaper, signal);
  // If it had ended, it would have been replaced.
  await setImmediate();
  expect(isAlive(told.reaper)).toBe(true);
  child.kill('SIGKILL');
  await nothingIsLeft(told.mark);
});

test('a child that was started at the moment when the server was killed ends too', async () => {
  const { child, told } = await holder(['sh', '-c', "trap '' TERM HUP; exec sleep 1000"]);
  child.kill('SIGUSR2');
  await once(child, 'exit');
  await nothingIsLeft(told.mark);
});

test('the reaper does not keep its server alive: once all children have ended, the server exits, and then the reaper', async () => {
  const script = `
    import { createChildren } from ${JSON.stringify(new URL('./children.ts', import.meta.url).href)};
    const children = createChildren();
    const child = await children.start({ file: 'cat', args: [], env: { PATH: process.env.PATH }, cwd: '/' });
    console.log(children.mark);
    child.stdin.end();
    await child.stop();
    process.exitCode = 7;
  `;
  const program = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [mark] = await once(createInterface({ input: program.stdout }), 'line');
  expect((await once(program, 'exit'))[0]).toBe(7);
  await nothingIsLeft(String(mark));
});

test('no child can be started after all children were stopped', async () => {
  const children = createChildren();
  const spec = { file: 'sleep', args: ['1000'], env: { PATH: process.env.PATH }, cwd: '/' };
  const child = await children.start(spec);
  const reaper = children.reaperPid as number;
  const meanwhile = children.start(spec);
  await children.stopAll(0);
  expect([child.pid, (await meanwhile).pid, reaper].map(isAlive)).toEqual([false, false, false]);
  await expect(children.start(spec)).rejects.toThrow('the server is shutting down');
});
