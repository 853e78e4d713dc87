import type { Holders } from '../../kernel/step.ts';
import { processExists, runningMembers, startOf } from './group.ts';

/** This process, as another one on the same machine can tell whether it is still there: its number alone may be somebody else's by then. */
export const THIS_PROCESS = `${process.pid}:${startOf(process.pid)}`;

/** In the environment of what a process has others do for it that may take a while: they outlive it for a moment. */
export const RUN_BY = 'COVENANT_RUN_BY';

/** Whether the process that was written down so has ended, and what it had begun has too. Null: nobody was. Where the system does not tell, nobody has. */
export function hasEnded(holder: string | null): boolean {
  if (holder === null || process.platform !== 'linux') return false;
  const [pid, started] = holder.split(':').map(Number) as [number, number];
  if (processExists(pid) && startOf(pid) === started) return false;
  return runningMembers({ groups: [], mark: holder, variable: RUN_BY }).length === 0;
}

export const holders: Holders = { me: THIS_PROCESS, hasEnded };
