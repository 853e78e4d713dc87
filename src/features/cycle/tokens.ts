import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

export const mintLockToken = (): string => randomBytes(24).toString('hex');

/** The lock token of every cycle that was imported. It opens nothing, and no file here follows such a cycle. */
export const IMPORTED_LOCK = 'void';

/** Shown once; only its hash is kept. */
export const mintSessionToken = (): string => `sess_${randomBytes(24).toString('hex')}`;

export const hashToken = (token: string): string => hash('sha256', token);

/** By which a session is known to be of this PSK. Without the token, which is kept nowhere, it tells nothing of the PSK. */
export const pskMark = (sessionToken: string, psk: string): string => hash('sha256', `${sessionToken} ${psk}`);

/** Takes the same time wherever they begin to differ, and however long they are. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
