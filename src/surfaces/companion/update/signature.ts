import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';

interface Release {
  readonly version: string;
  /** SHA-256 of the tarball, in lower-case hexadecimal. */
  readonly sha256: string;
}

const PREFIX = 'ed25519:';
/** The DER bytes that come before the 32 bytes of an Ed25519 public key. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** The format of public keys in config.toml and in the file of pinned keys: `ed25519:` and the 32 bytes in base64. */
export const PUBLIC_KEY = /^ed25519:[A-Za-z0-9+/]{43}=$/;

/** Returns the text that is signed. Its first line states the purpose, so that a signature of this key for another purpose is not valid here. */
const statement = ({ version, sha256 }: Release): Buffer =>
  Buffer.from(`covenant companion release\nname covenant\nversion ${version}\nsha256 ${sha256.toLowerCase()}\n`);

export function newSigningKey(): { privateKey: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), publicKey: publicText(publicKey) };
}

/** Reads the private key from PEM. Throws if it is not an Ed25519 key. */
export function readSigningKey(pem: string): KeyObject {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('not an Ed25519 key');
  return key;
}

export const publicKeyOf = (key: KeyObject): string => publicText(createPublicKey(key));

export const signRelease = (key: KeyObject, release: Release): string => sign(null, statement(release), key).toString('base64');

/** Returns whether the signature was made with this key for exactly this version and this file. */
export function isSigned(publicKey: string, release: Release, signature: string | undefined): boolean {
  if (signature === undefined || !PUBLIC_KEY.test(publicKey)) return false;
  const key = createPublicKey({ key: Buffer.concat([SPKI, Buffer.from(publicKey.slice(PREFIX.length), 'base64')]), format: 'der', type: 'spki' });
  return verify(null, statement(release), key, Buffer.from(signature, 'base64'));
}

/** Returns a hash of the key that is short enough for people to compare. */
export const fingerprintOf = (publicKey: string): string =>
  `SHA256:${createHash('sha256')
    .update(Buffer.from(publicKey.slice(PREFIX.length), 'base64'))
    .digest('base64')
    .replace(/=+$/, '')}`;

const publicText = (key: KeyObject): string => `${PREFIX}${key.export({ type: 'spki', format: 'der' }).subarray(SPKI.length).toString('base64')}`;
