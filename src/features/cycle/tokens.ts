import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

export const mintLockToken = (): string => randomBytes(24).toString('hex');

/** The lock token of every imported cycle. It opens nothing, and such a cycle never writes files. */
export const IMPORTED_LOCK = 'void';

/** Shown once; only its hash is stored. */
export const mintSessionToken = (): string => `sess_${randomBytes(24).toString('hex')}`;

export const hashToken = (token: string): string => hash('sha256', token);

/** Ties a session to its PSK. Without the token, which is never stored, it reveals nothing about the PSK. */
export const pskMark = (sessionToken: string, psk: string): string => hash('sha256', `${sessionToken} ${psk}`);

/** Takes the same time wherever the values differ and however long they are. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
