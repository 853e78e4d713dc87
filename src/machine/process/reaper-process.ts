/**
 * The program that `reaper.ts` starts as `node reaper-process <mark>`. It reads lines `+<group>` and `-<group>` until the pipe closes. A child that is just
 * being started keeps the pipe open until its environment contains the mark, so the reaper finds even the child that was started last.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { runningMembers, signalAll } from './group.ts';

const GRACE_MS = 500;
const KILL_MS = 10_000;
const LOOK_MS = 25;

const groups = new Set<number>();
const mark = process.argv[2];
let rest = '';

// The reaper ignores signals, because it must not end before the server.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

process.stdin.setEncoding('utf8');
process.stdin.on('data', (text: string) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) {
    const group = Number(line.slice(1));
    if (line.startsWith('+')) groups.add(group);
    else groups.delete(group);
  }
});
process.stdin.on('error', () => {});
process.stdin.on('close', () => {
  endAll().finally(() => process.exit());
});

async function endAll(): Promise<void> {
  if (!mark) return;
  const family = { groups, mark };
  signalAll(runningMembers(family), 'SIGTERM');
  const began = performance.now();
  // The reaper ends after two checks without a result, because a process may have been forked during the first one.
  for (let quiet = 0; quiet < 2 && performance.now() - began < KILL_MS; ) {
    const left = runningMembers(family);
    quiet = left.length === 0 ? quiet + 1 : 0;
    if (performance.now() - began >= GRACE_MS) signalAll(left, 'SIGKILL');
    await wait(LOOK_MS);
  }
}
