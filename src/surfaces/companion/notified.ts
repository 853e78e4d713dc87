import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { covibeHome } from '../../wire/covibe-home.ts';

/** A run that is still going after this long is told again. */
const KEPT_MS = 2 * 24 * 60 * 60_000;

/** What is remembered of runs. */
export const runsFolder = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'runs');

/** Whether this run's person is to be told now: once for each run, whatever goes wrong in it. */
export function shouldNotify(env: NodeJS.ProcessEnv, run: string, now: number): boolean {
  const folder = runsFolder(env);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    sweepRuns(env, now);
    writeFileSync(join(folder, createHash('sha256').update(run).digest('hex').slice(0, 32)), '', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    // Where nothing can be remembered, better twice than never.
    return (error as NodeJS.ErrnoException).code !== 'EEXIST';
  }
}

export function sweepRuns(env: NodeJS.ProcessEnv, now: number): void {
  const folder = runsFolder(env);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    // Another hook may sweep at the same moment.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && now - found.mtimeMs > KEPT_MS) rmSync(path, { force: true });
  }
}
