import { hash, randomBytes } from 'node:crypto';

/** `cv_` + 32 random bytes. Shown once; only its hash is kept. */
export const mintToken = (): string => `cv_${randomBytes(32).toString('base64url')}`;

export const TOKEN_FORMAT = /^cv_[A-Za-z0-9_-]{43}$/;

/** The secret of a sign-in link, of a page's proof, of a ticket or of a device code: as long as a token, but not a token. */
export const mintSecret = (): string => randomBytes(32).toString('base64url');

/** The store keeps of tokens and secrets only this hash. */
export const SECRET_HASH = 'sha256';

export const hashSecret = (secret: string): string => hash(SECRET_HASH, secret);
