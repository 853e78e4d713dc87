import { answers, startOf } from './group.ts';

/** This process, as another one on the same machine can tell whether it is still there: its number alone may be somebody else's by then. */
export const THIS_PROCESS = `${process.pid}:${startOf(process.pid)}`;

/** Whether the process that was written down so has ended. Null: nobody was. */
export function hasEnded(holder: string | null): boolean {
  if (holder === null) return false;
  const [pid, started] = holder.split(':').map(Number) as [number, number];
  return !answers(pid) || startOf(pid) !== started;
}
