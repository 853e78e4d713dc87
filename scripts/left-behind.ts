/** The processes that a run of tests has left behind: they still name its folder in their command line or environment. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { processesWith } from '../src/testing/programs/processes.ts';

/** PostgreSQL and the children of vite and vitest end with the run, a moment after it. */
const GRACE_MS = 5_000;
const POLL_MS = 100;

/** Ends them, and says what they were. Only Linux lists them: elsewhere there are none. */
export async function endLeftBehind(folder: string, graceMs = GRACE_MS): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  for (const until = performance.now() + graceMs; processesWith(folder).length > 0 && performance.now() < until; ) await pause(POLL_MS);
  const ended = new Map<number, string>();
  // What one of them starts before it is ended is found by the next look.
  for (let left = processesWith(folder); left.length > 0; left = processesWith(folder).filter((pid) => !ended.has(pid))) {
    for (const pid of left) ended.set(pid, commandLine(pid));
    for (const pid of left) end(pid);
  }
  return [...ended].map(([pid, command]) => `${pid} ${command}`);
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '(ended meanwhile)';
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself meanwhile.
  }
}
