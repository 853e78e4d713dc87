import { createHash } from 'node:crypto';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Half a SHA-256: enough to tell names and marks apart. */
export const hashOf = (text: string): string => sha256(text).slice(0, 32);
