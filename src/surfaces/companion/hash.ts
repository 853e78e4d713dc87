import { createHash } from 'node:crypto';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Half of it: long enough for names and marks that are told apart by it. */
export const hashOf = (text: string): string => sha256(text).slice(0, 32);
