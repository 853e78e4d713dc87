import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export interface Clock {
  now(): number;
  /** Calls `task` about every `ms` milliseconds, and whenever a test moves the clock. Returns a function that stops the calls. */
  every(ms: number, task: () => void): () => void;
  /** Calls `task` once, `ms` from now. Returns a function that cancels it. */
  after(ms: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  every(ms, task) {
    const timer = setInterval(task, ms).unref();
    return () => clearInterval(timer);
  },
  after(ms, task) {
    const timer = setTimeout(task, ms).unref();
    return () => clearTimeout(timer);
  },
};

const LOOK_MS = 20;

/** A clock that reads its time (epoch ms) from a file, so that a test can move the clock of a running program. */
export function fileClock(path: string): Clock {
  const read = () => {
    const text = readFileSync(path, 'utf8').trim();
    return /^\d+$/.test(text) ? Number(text) : undefined;
  };
  let last = read();
  if (last === undefined) throw new Error(`COVENANT_TEST_CLOCK: ${path} does not contain epoch milliseconds`);
  // The file may be read while it is half written. In that case the time stays unchanged.
  const now = () => (last = read() ?? last) as number;
  return {
    now,
    every(_ms, task) {
      let seen = now();
      const timer = setInterval(() => {
        const time = now();
        if (time === seen) return;
        seen = time;
        task();
      }, LOOK_MS).unref();
      return () => clearInterval(timer);
    },
    // Runs the task when the file or the real clock reaches the time, whichever comes first. Other programs run in real time, so
    // waiting for them must also end in real time.
    after(ms, task) {
      const due = now() + ms;
      const end = () => {
        clearTimeout(timer);
        clearInterval(look);
      };
      const go = () => {
        end();
        task();
      };
      const timer = setTimeout(go, ms).unref();
      const look = setInterval(() => now() >= due && go(), LOOK_MS).unref();
      return end;
    },
  };
}

/** The file clock works only under NODE_ENV=test, so that nobody can change the time of a real server. */
export function clockFrom(env: NodeJS.ProcessEnv): Clock {
  const path = env.COVENANT_TEST_CLOCK;
  return env.NODE_ENV === 'test' && path ? fileClock(path) : systemClock;
}

/** Resolves when the work is done or the time is up. Rejects only if the work fails in time; a later failure is ignored. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  try {
    await Promise.race([work, wait(ms, undefined, { signal: enough.signal }).catch(() => {})]);
  } finally {
    enough.abort();
  }
}
