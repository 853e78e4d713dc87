import type { Invocation } from '../command.ts';

const EVERY_MS = 5_000;

/** A line of narration each five seconds, and none for what is over sooner. */
export function everyFiveSeconds({ out, json }: Invocation): (line: () => string) => void {
  let last = performance.now();
  return (line) => {
    if (json || performance.now() - last < EVERY_MS) return;
    last = performance.now();
    out.note(line());
  };
}
