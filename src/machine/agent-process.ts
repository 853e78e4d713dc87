import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentSessions, SessionHandle } from './agent-session.ts';
import { endAll } from './end-all.ts';
import { answers, startOf } from './group.ts';
import { FolderMissing, isFolder, notStarted } from './process.ts';

const SHOWN_BYTES = 64 * 1024;
const LONGEST_LOG = 16 * 1024 * 1024;

/** Where there is no tmux: a process group without a terminal, whose output goes into a log. */
export function createProcesses(logs: string): AgentSessions {
  const logOf = (name: string) => join(logs, `${name}.log`);
  return {
    kind: 'process',
    async start({ name, cwd, file, args, env, input }) {
      if (!isFolder(cwd)) throw new FolderMissing(cwd);
      await mkdir(logs, { recursive: true, mode: 0o700 });
      // Appending: the log can be cut short while it is written to.
      const log = await open(logOf(name), 'a', 0o600);
      try {
        const child = spawn(file, [...args], { cwd, env: { ...env }, detached: true, windowsHide: true, stdio: ['pipe', log.fd, log.fd] });
        // Without this the failure would be nobody's, and end the server.
        child.on('error', () => {});
        child.stdin?.on('error', () => {});
        await once(child, 'spawn').catch((error: unknown) => {
          throw notStarted(file, error);
        });
        child.stdin?.end(input ?? '');
        child.unref();
        const pid = child.pid as number;
        return { name, pid, started: startOf(pid) };
      } finally {
        await log.close();
      }
    },
    /** TODO(issue): by the environment variable COVENANT_INSTANCE_ID in /proc, or a pid file. */
    find: async () => undefined,
    async look({ pid, started }: SessionHandle) {
      return answers(pid) && startOf(pid) === started ? { state: 'running' } : { state: 'gone' };
    },
    end: ({ pid, started }) => endAll({ group: pid, started }),
    async screen({ name }) {
      const log = await open(logOf(name), 'r').catch(() => null);
      if (!log) return '';
      try {
        const { size } = await log.stat();
        const { buffer, bytesRead } = await log.read({ buffer: Buffer.alloc(Math.min(size, SHOWN_BYTES)), position: Math.max(0, size - SHOWN_BYTES) });
        return buffer.toString('utf8', 0, bytesRead).replace(/^\uFFFD+/, '');
      } finally {
        await log.close();
      }
    },
    type: async () => false,
    names: async () => [],
  };
}

/** Cuts a log that has grown too long; what is written next follows. */
export async function boundLog(logs: string, name: string): Promise<void> {
  const path = join(logs, `${name}.log`);
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LONGEST_LOG) await writeFile(path, '(the log grew too long and was cut here)\n');
}
