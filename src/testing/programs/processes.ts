import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { socketIn } from '../../machine/agent-sessions/tmux.ts';

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
export const processesWith = (text: string): number[] => processesWhose(['environ', 'cmdline'], text);

/** The same by the command line alone: a tmux server is among them, not a program that merely has the text in its environment. */
export const processesNaming = (text: string): number[] => processesWhose(['cmdline'], text);

function processesWhose(files: readonly string[], text: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const holds = (pid: string) =>
    files.some((file) => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(text);
      } catch {
        return false;
      }
    });
  return pids.filter((pid) => holds(pid) && isAlive(Number(pid))).map(Number);
}

/** Ends the tmux server of this home with all its sessions. It may have ended by itself, or never begun. */
export function endTmux(home: string): void {
  spawnSync('tmux', ['-S', socketIn(home), 'kill-server'], { stdio: 'ignore' });
}

export const openDescriptors = (): number => readdirSync('/proc/self/fd').length;
