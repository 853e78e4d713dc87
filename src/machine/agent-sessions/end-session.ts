import { setTimeout as wait } from 'node:timers/promises';
import { runningMembers, signalAll, startOf } from '../process/group.ts';
import { SESSION_VARIABLE } from './agent-session.ts';

const GRACE_MS = 2_000;
const KILL_MS = 10_000;
const LOOK_MS = 50;

interface EndedSession {
  /** The leader of its group; null where that number is somebody else's by now. */
  readonly group: number | null;
  /** From `startOf`: a group of that number that began otherwise is somebody else's. */
  readonly started: number;
  /** The mark in the environment of its processes, also of those that have left the group. */
  readonly mark: string;
}

/** Asks a session's processes to end, then makes them: its group, and whatever it has started. */
export async function endSession({ group, started, mark }: EndedSession): Promise<void> {
  const isOurs = group !== null && (startOf(group) === started || startOf(group) === 0);
  const family = { groups: isOurs ? [group] : [], mark, variable: SESSION_VARIABLE, since: started };
  for (const [signal, patience] of [
    ['SIGTERM', GRACE_MS],
    ['SIGKILL', KILL_MS],
  ] as const) {
    let left = runningMembers(family);
    // Again each time: what is ending may just have started another.
    for (let waited = 0; left.length > 0 && waited < patience; waited += LOOK_MS) {
      if (waited === 0 || signal === 'SIGKILL') signalAll(left, signal);
      await wait(LOOK_MS);
      left = runningMembers(family);
    }
    if (left.length === 0) return;
  }
}
