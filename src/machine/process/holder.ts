import type { Holders } from '../../kernel/step.ts';
import { processExists, runningMembers, startOf } from './group.ts';

/**
 * Identifies this process, so that another process on the same machine can check whether it is still running. The start time is included because the system
 * may reuse a pid.
 */
export const THIS_PROCESS = `${process.pid}:${startOf(process.pid)}`;

/** An environment variable that marks slow programs with the process that started them. They may run a little longer than that process. */
export const RUN_BY = 'COVENANT_RUN_BY';

/** Whether the recorded process and all programs that it started have ended. False if `holder` is null or the system does not provide the information. */
export function hasEnded(holder: string | null): boolean {
  if (holder === null || process.platform !== 'linux') return false;
  const [pid, started] = holder.split(':').map(Number) as [number, number];
  if (processExists(pid) && startOf(pid) === started) return false;
  return runningMembers({ groups: [], mark: holder, variable: RUN_BY }).length === 0;
}

export const holders: Holders = { me: THIS_PROCESS, hasEnded };
