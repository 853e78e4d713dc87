import type { createHash } from 'node:crypto';
import { createRequire } from 'node:module';

/** Loads node:crypto only when it is needed. Loading takes 4 ms, agents wait for their hooks, and most hooks compute no hash. */
const load = createRequire(import.meta.url);

export function sha256(text: string): string {
  const crypto = load('node:crypto') as { createHash: typeof createHash };
  return crypto.createHash('sha256').update(text).digest('hex');
}

/** Returns the first half of a SHA-256 hash, which is long enough to distinguish names and marks. */
export const hashOf = (text: string): string => sha256(text).slice(0, 32);
