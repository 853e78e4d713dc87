/** Finds and ends processes that are still running after a test run. Their command line or environment contains the temporary folder of the run. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { processesWith } from '../src/testing/programs/processes.ts';

/** PostgreSQL and the child processes of vite and vitest get this time to end by themselves. */
const GRACE_MS = 5_000;
const POLL_MS = 100;

/** Kills the processes that are left and returns their command lines. This works only on Linux. On other systems, the result is empty. */
export async function endLeftBehind(folder: string, graceMs = GRACE_MS): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  for (const until = performance.now() + graceMs; processesWith(folder).length > 0 && performance.now() < until; ) await pause(POLL_MS);
  const ended = new Map<number, string>();
  // Repeats the search, because a killed process may have started further processes before its end.
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
