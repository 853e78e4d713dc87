import type { BareInvocation } from './command.ts';

type Narrated = Pick<BareInvocation, 'out' | 'json'>;

const FIRST_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

/** Reports on standard error that the work is still running. The first report comes after five seconds. The interval then doubles, up to one minute. */
export async function working<T>({ out, json }: Narrated, what: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const wait = (ms: number) => {
    timer = setTimeout(() => {
      out.note(`${what}: ${Math.round((performance.now() - started) / 1000)} s so far`);
      wait(Math.min(2 * ms, LONGEST_PAUSE_MS));
    }, ms).unref();
  };
  if (!json) wait(FIRST_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

/** Prints at most one line every five seconds. Prints nothing if the work takes less than five seconds. */
export function everyFiveSeconds({ out, json }: Narrated): (line: () => string) => void {
  let last = performance.now();
  return (line) => {
    if (json || performance.now() - last < FIRST_MS) return;
    last = performance.now();
    out.note(line());
  };
}
