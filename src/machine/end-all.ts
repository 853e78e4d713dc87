import { setTimeout as wait } from 'node:timers/promises';
import { answers, signalGroup, startOf } from './group.ts';

const GRACE_MS = 2_000;
const KILL_MS = 10_000;
const LOOK_MS = 50;

interface Group {
  /** Its leader. */
  readonly group: number;
  /** From `startOf`: a group of that number that began otherwise is somebody else's. */
  readonly started: number;
}

/** Asks a process group to end, then makes it. */
export async function endAll({ group, started }: Group): Promise<void> {
  const isThere = () => answers(-group);
  if (startOf(group) !== started && startOf(group) !== 0) return;
  for (const [signal, patience] of [
    ['SIGTERM', GRACE_MS],
    ['SIGKILL', KILL_MS],
  ] as const) {
    if (!isThere()) return;
    signalGroup(group, signal);
    for (let waited = 0; isThere() && waited < patience; waited += LOOK_MS) await wait(LOOK_MS);
  }
}
