import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { socketIn } from '../../machine/agent-sessions/tmux.ts';

/** The program of a hostile or well-behaved server in `children/`. */
export const childProgram = (name: string): string => fileURLToPath(new URL(`./children/${name}.mjs`, import.meta.url));

/** Whether the process runs and is not just a zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Every living process whose environment or command line contains this text, except this one. */
export const processesWith = (text: string): number[] => processesWhose(['environ', 'cmdline'], text);

/** Like `processesWith`, but searches only command lines. It finds a tmux server, but no program that has the text only in its environment. */
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

/** Ends the tmux server of this home with all its sessions, if it runs. */
export function endTmux(home: string): void {
  spawnSync('tmux', ['-S', socketIn(home), 'kill-server'], { stdio: 'ignore' });
}

export const openDescriptors = (): number => readdirSync('/proc/self/fd').length;
