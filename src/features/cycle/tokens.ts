import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

export const mintLockToken = (): string => randomBytes(24).toString('hex');

/** All imported cycles have this lock token. It is not a valid token, and it marks cycles that never write files. */
export const IMPORTED_LOCK = 'void';

/** Creates a session token. The token is shown only once, and only its hash is stored. */
export const mintSessionToken = (): string => `sess_${randomBytes(24).toString('hex')}`;

export const hashToken = (token: string): string => hash('sha256', token);

/** Stored with a session to notice when the PSK changes. It does not reveal the PSK, because it also depends on the token, which is not stored. */
export const pskMark = (sessionToken: string, psk: string): string => hash('sha256', `${sessionToken} ${psk}`);

/** Compares two secrets in constant time, so that the time does not reveal where they differ or how long they are. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
