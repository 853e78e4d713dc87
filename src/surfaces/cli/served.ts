import { join } from 'node:path';
import { findServer } from './client.ts';
import { CliError } from './command.ts';
import { type RunFile, readRunFile } from './home.ts';

/** For what may be done only while no server of this home runs. One that is slow to answer is running all the same. */
export async function refuseWhileServed(env: NodeJS.ProcessEnv, home: string, doing: string): Promise<void> {
  // One that answers may be in a container, where its process has another number.
  const run = (await findServer(env)) ?? processOf(home);
  if (run)
    throw new CliError(
      'SERVER_RUNNING',
      `A server of this home runs at ${run.url} (process ${run.pid}).`,
      `Stop it, ${doing}, start it again. If process ${run.pid} is something else, remove ${join(home, 'server.json')}.`,
    );
}

/** A server of this home whose process is there, whether it answers or not. */
export function processOf(home: string): RunFile | undefined {
  const run = readRunFile(home);
  return run && isAlive(run.pid) ? run : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
