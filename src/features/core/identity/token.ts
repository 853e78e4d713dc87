import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { CLIENT_NAMES } from '../../../clients/client.ts';

/** `web` is a browser's sign-in, carried by the cookie and accepted nowhere else. */
export type TokenKind = 'operator' | 'developer' | 'agent' | 'instance' | 'web';

export const agentType = z.enum(CLIENT_NAMES);

/** `cv_` + 32 random bytes. Shown once; only its hash is kept. */
export const mintToken = (): string => `cv_${randomBytes(32).toString('base64url')}`;
export const isToken = (text: string): boolean => /^cv_[A-Za-z0-9_-]{43}$/.test(text);

/** The secret of a sign-in link, of a page's proof or of a ticket: as long as a token, but not a token. */
export const mintSecret = (): string => randomBytes(32).toString('base64url');

export const hashSecret = (secret: string): string => hash('sha256', secret);

/** The index found the row by its hash; this comparison leaks nothing of how much of it fits. */
export const sameHash = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** The first of "claude-code 1", "claude-code 2", … that the developer has not used. */
export function defaultLabel(noun: string, taken: readonly string[]): string {
  const used = new Set(taken);
  for (let number = 1; ; number++) {
    const label = `${noun} ${number}`;
    if (!used.has(label)) return label;
  }
}
