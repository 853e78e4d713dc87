import { hash, randomBytes } from 'node:crypto';

/** Creates a token: `cv_` and 32 random bytes. It is shown once, and only its hash is stored. */
export const mintToken = (): string => `cv_${randomBytes(32).toString('base64url')}`;

export const TOKEN_FORMAT = /^cv_[A-Za-z0-9_-]{43}$/;

/** The secret of a sign-in link, page proof, ticket or device code. It has the length of a token, but cannot be used as a token. */
export const mintSecret = (): string => randomBytes(32).toString('base64url');

/** The only stored form of tokens and secrets. */
export const SECRET_HASH = 'sha256';

export const hashSecret = (secret: string): string => hash(SECRET_HASH, secret);
