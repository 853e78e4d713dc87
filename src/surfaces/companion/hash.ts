import type { createHash } from 'node:crypto';
import { createRequire } from 'node:module';

/** Loading node:crypto takes 4 ms. Most hooks hash nothing, and their agents wait for them. */
const load = createRequire(import.meta.url);

export function sha256(text: string): string {
  const crypto = load('node:crypto') as { createHash: typeof createHash };
  return crypto.createHash('sha256').update(text).digest('hex');
}

/** Half a SHA-256: enough to tell names and marks apart. */
export const hashOf = (text: string): string => sha256(text).slice(0, 32);
