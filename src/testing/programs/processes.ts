import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { socketIn } from '../../machine/agent-sessions/tmux.ts';

/** Returns the path of a program in `children/`, such as a server that misbehaves. */
export const childProgram = (name: string): string => fileURLToPath(new URL(`./children/${name}.mjs`, import.meta.url));

/** Whether the process is running. A zombie does not count. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Returns all other running processes that contain this text in their environment or command line. */
export const processesWith = (text: string): number[] => processesWhose(['environ', 'cmdline'], text);

/** Like `processesWith`, but searches only command lines. This finds a tmux server, but not its programs, which have the text only in their environment. */
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

/** If the tmux server of this home is running, ends it with all its sessions. */
export function endTmux(home: string): void {
  spawnSync('tmux', ['-S', socketIn(home), 'kill-server'], { stdio: 'ignore' });
}

export const openDescriptors = (): number => readdirSync('/proc/self/fd').length;
