import { setTimeout as wait } from 'node:timers/promises';
import { runningMembers, signalAll, startOf } from '../process/group.ts';
import { SESSION_VARIABLE } from './agent-session.ts';

const GRACE_MS = 2_000;
const KILL_MS = 10_000;
const LOOK_MS = 50;

interface EndedSession {
  /** The leader of the session's process group. Null if another program has that pid now. */
  readonly group: number | null;
  /** The leader's start time from `startOf`. If the start time is different, the group belongs to another program. */
  readonly started: number;
  /** The mark in the environment of the session's processes. It also finds processes that have left the group. */
  readonly mark: string;
}

/** Asks all processes of a session (its process group and everything that the session started) to end, then kills those that remain. */
export async function endSession({ group, started, mark }: EndedSession): Promise<void> {
  const isOurs = group !== null && (startOf(group) === started || startOf(group) === 0);
  const family = { groups: isOurs ? [group] : [], mark, variable: SESSION_VARIABLE, since: started };
  for (const [signal, patience] of [
    ['SIGTERM', GRACE_MS],
    ['SIGKILL', KILL_MS],
  ] as const) {
    let left = runningMembers(family);
    // The check is repeated, because a process may start another one just before it ends.
    for (let waited = 0; left.length > 0 && waited < patience; waited += LOOK_MS) {
      if (waited === 0 || signal === 'SIGKILL') signalAll(left, signal);
      await wait(LOOK_MS);
      left = runningMembers(family);
    }
    if (left.length === 0) return;
  }
}
