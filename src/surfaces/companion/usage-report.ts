import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

interface Run {
  /** Claude Code's transcript of the run. Only counters are read from it. */
  readonly transcript: string | undefined;
  readonly session: string | undefined;
}

/** Reports the usage of a run in a separate process, so that the agent does not wait for it. */
export function reportUsageAside(env: NodeJS.ProcessEnv, origin: string, { transcript, session }: Run): void {
  const script = process.argv[1];
  if (script === undefined || transcript === undefined) return;
  const more = ['--transcript', transcript, ...(session === undefined ? [] : ['--session', session])];
  const args = [...process.execArgv, script, 'hook', 'claude-code', 'usage', '--base-url', origin, ...more];
  const child = spawn(process.execPath, args, { detached: true, stdio: 'ignore', env });
  child.on('error', () => {});
  child.unref();
}

/** The number of seconds to wait while another process reports usage. After that, the usage of this run is reported at its next stop or by the watcher. */
const MAX_TRIES = 30;

export async function reportUsage(env: NodeJS.ProcessEnv, origin: string, { transcript, session }: Run): Promise<void> {
  const { syncUsage } = await import('./watch/sync.ts');
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const { heldBy } = await syncUsage(env, { origin, sources: ['claude-code'], only: transcript, session_id: session });
    if (heldBy === undefined) return;
    await pause(1_000);
  }
}
