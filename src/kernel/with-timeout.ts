import { setTimeout as wait } from 'node:timers/promises';

/** Resolves when the work is done, or has had its time. What becomes of it after that is not waited for. */
export async function withTimeout(ms: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  try {
    await Promise.race([work, wait(ms, undefined, { signal: enough.signal }).catch(() => {})]);
  } finally {
    enough.abort();
  }
}
