import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { VERSION } from '../../../version.ts';
import { type CurrentRelease, currentRelease, forgetRelease } from './current-release.ts';
import type { Updater } from './updater.ts';

/** The exit code with which a release asks the program that started it to start another release. */
export const HANDOVER = 75;
/** This variable is set in the environment of a release that another companion process started. */
const LAUNCHED = 'COVIBE_LAUNCHED';

/** If a release exits with an error within this time, it does not work on this machine. */
const SOON_MS = 30_000;

interface LaunchOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly argv: readonly string[];
  readonly signal: AbortSignal;
  readonly updater: Updater;
  /** Runs the watcher of this release in this process. */
  here(): Promise<'ended' | 'handover'>;
}

/**
 * Runs the current release, and restarts with the new release each time one is installed. The current release may be this program itself. The service always
 * starts the originally installed program, which then calls this function to start the current release.
 */
export async function runCurrent({ env, argv, signal, updater, here }: LaunchOptions): Promise<'ended' | 'handover' | 'failed'> {
  for (;;) {
    const current = env[LAUNCHED] ? undefined : currentRelease(env);
    if (!current || current.version === VERSION) {
      const end = await here();
      // If another process started this release, that process starts the next release as soon as this one has exited.
      if (end === 'ended' || env[LAUNCHED]) return end;
      continue;
    }
    const began = Date.now();
    const code = await runRelease(current, argv, env, signal);
    if (code === 0 || signal.aborted) return 'ended';
    if (code === HANDOVER) continue;
    if (Date.now() - began >= SOON_MS) return 'failed';
    forgetRelease(env);
    updater.failed(current.version, `it exited immediately with code ${code}`);
  }
}

async function runRelease({ program }: CurrentRelease, argv: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number | null> {
  const child = spawn(process.execPath, [program, ...argv], { env: { ...env, [LAUNCHED]: String(process.pid) }, stdio: 'inherit' });
  const end = () => child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  } catch {
    return null;
  } finally {
    signal.removeEventListener('abort', end);
  }
}
