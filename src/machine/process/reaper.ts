import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../kernel/log.ts';
import type { GroupListener } from './child.ts';

/**
 * A small process that ends the server's children if the server dies. It reads a pipe from the server, which reports all process groups. When the pipe closes
 * for any reason, the reaper ends these groups and every process with the server's mark. It is started with the first group, and started again if it dies.
 */
export interface Reaper extends GroupListener {
  readonly pid: number | undefined;
  /** Lets the reaper exit when all children have ended. */
  stop(): Promise<void>;
}

/** If the reaper keeps dying immediately, the pause before the next start grows between these limits. */
const RESTART_MS = { first: 100, most: 30_000 };
/** If the reaper has run for this long, the pause starts again at its minimum. */
const STEADY_MS = 10_000;
const STOP_MS = 5_000;

const PROGRAM = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './reaper-process.ts' : './reaper-process.js', import.meta.url));

export function createReaper(mark: string, log?: Log): Reaper {
  const groups = new Set<number>();
  let running: ChildProcess | undefined;
  let delayMs = 0;
  let later: NodeJS.Timeout | undefined;
  let stopped = false;

  const tell = (line: string) => running?.stdin?.write(`${line}\n`);

  const start = () => {
    clearTimeout(later);
    later = undefined;
    const startedAt = performance.now();
    // The reaper runs in its own session, so that it does not receive signals from a terminal. It runs without the server's environment, and in a folder that
    // nobody removes.
    const { LD_LIBRARY_PATH, SystemRoot } = process.env;
    const reaper = spawn(process.execPath, [PROGRAM, mark], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { LD_LIBRARY_PATH, SystemRoot },
    });
    running = reaper;
    const gone = (problem: string) => {
      if (running !== reaper) return;
      running = undefined;
      reaper.stdin?.destroy();
      if (stopped) return;
      delayMs = performance.now() - startedAt > STEADY_MS ? 0 : Math.min(RESTART_MS.most, Math.max(RESTART_MS.first, delayMs * 2));
      log?.warn('the process that cleans up external servers has ended', { problem });
      if (groups.size > 0) restart();
    };
    reaper.on('error', (error) => gone(error.message));
    reaper.on('exit', (code, signal) => gone(signal ?? `exit code ${code}`));
    // Errors of the pipe are ignored, because the exit event reports that the reaper has ended.
    reaper.stdin?.on('error', () => {});
    reaper.unref();
    (reaper.stdin as Socket | null)?.unref();
    for (const group of groups) tell(`+${group}`);
  };

  const restart = () => {
    if (delayMs === 0) start();
    else later ??= setTimeout(start, delayMs).unref();
  };

  return {
    get pid() {
      return running?.pid;
    },
    began(group) {
      groups.add(group);
      if (running) tell(`+${group}`);
      else restart();
    },
    ended(group) {
      groups.delete(group);
      tell(`-${group}`);
    },
    async stop() {
      stopped = true;
      clearTimeout(later);
      const reaper = running;
      if (!reaper) return;
      reaper.ref();
      const exited = new Promise<void>((resolve) => reaper.once('exit', () => resolve()).once('error', () => resolve()));
      reaper.stdin?.end();
      const limit = setTimeout(() => reaper.kill('SIGKILL'), STOP_MS);
      await exited;
      clearTimeout(limit);
    },
  };
}
