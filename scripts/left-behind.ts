/** Finds processes that outlive a test run. Their command line or environment names the folder of the run. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { processesWith } from '../src/testing/programs/processes.ts';

/** PostgreSQL and the children of vite and vitest end shortly after the run. */
const GRACE_MS = 5_000;
const POLL_MS = 100;

/** Kills these processes and returns their command lines. Only Linux lists processes; on other systems the result is empty. */
export async function endLeftBehind(folder: string, graceMs = GRACE_MS): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  for (const until = performance.now() + graceMs; processesWith(folder).length > 0 && performance.now() < until; ) await pause(POLL_MS);
  const ended = new Map<number, string>();
  // The next pass finds processes that a killed process started before its end.
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
    return '(already ended)';
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}
