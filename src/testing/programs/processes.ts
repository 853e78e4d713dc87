import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The program of a hostile or well-behaved server in `children/`. */
export const childProgram = (name: string): string => fileURLToPath(new URL(`./children/${name}.mjs`, import.meta.url));

/** Runs, and is not merely waiting to be reaped. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Every living process whose environment or command line holds this text, except this one. */
export function processesWith(text: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const holds = (pid: string) =>
    ['environ', 'cmdline'].some((file) => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(text);
      } catch {
        return false;
      }
    });
  return pids.filter((pid) => holds(pid) && isAlive(Number(pid))).map(Number);
}

export const openDescriptors = (): number => readdirSync('/proc/self/fd').length;
