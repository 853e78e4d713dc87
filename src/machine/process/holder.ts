import type { Holders } from '../../kernel/step.ts';
import { processExists, runningMembers, startOf } from './group.ts';

/** Identifies this process, so that another process on the same machine can tell whether it still runs: a pid alone may be reused. */
export const THIS_PROCESS = `${process.pid}:${startOf(process.pid)}`;

/** An environment variable of slow programs that this process starts. They may outlive the process for a moment. */
export const RUN_BY = 'COVENANT_RUN_BY';

/** Whether the recorded process and everything it started have ended. False for null, and if the system cannot tell. */
export function hasEnded(holder: string | null): boolean {
  if (holder === null || process.platform !== 'linux') return false;
  const [pid, started] = holder.split(':').map(Number) as [number, number];
  if (processExists(pid) && startOf(pid) === started) return false;
  return runningMembers({ groups: [], mark: holder, variable: RUN_BY }).length === 0;
}

export const holders: Holders = { me: THIS_PROCESS, hasEnded };
