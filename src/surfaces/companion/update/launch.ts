import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { VERSION } from '../../../version.ts';
import { type CurrentRelease, currentRelease, forgetRelease } from './current-release.ts';
import type { Updater } from './updater.ts';

/** A release that was started from here exits with this code when another release has to take over. */
export const HANDOVER = 75;
/** Set in the environment of a release that was started from here. */
const LAUNCHED = 'COVIBE_LAUNCHED';

/** A release that fails this soon does not work on this machine. */
const SOON_MS = 30_000;

interface LaunchOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly argv: readonly string[];
  readonly signal: AbortSignal;
  readonly updater: Updater;
  /** Runs this release itself. */
  here(): Promise<'ended' | 'handover'>;
}

/**
 * Runs the current release, and restarts with the new release each time one is installed. The current release may be this program itself. The service
 * always starts the originally installed program, which then starts the current release here.
 */
export async function runCurrent({ env, argv, signal, updater, here }: LaunchOptions): Promise<'ended' | 'handover' | 'failed'> {
  for (;;) {
    const current = env[LAUNCHED] ? undefined : currentRelease(env);
    if (!current || current.version === VERSION) {
      const end = await here();
      // A release that another process started exits, and that process starts the next release.
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
