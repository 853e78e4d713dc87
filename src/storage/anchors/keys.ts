import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign, verify } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { canonicalJson } from '../journal.ts';
import { appendLine, readLines, syncFolder } from './lines.ts';

export interface SigningKey {
  readonly id: string;
  /** SPKI in base64. */
  readonly publicKey: string;
  sign(text: string): string;
}

const spkiOf = (key: KeyObject): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' });
export const keyIdOf = (publicKey: string): string => hash('sha256', Buffer.from(publicKey, 'base64')).slice(0, 16);

export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), type: 'spki', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' && verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

/** Reads a PEM file. */
export function readKey(path: string): SigningKey | undefined {
  if (!existsSync(path)) return undefined;
  const key = createPrivateKey(readFileSync(path));
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${path} contains no Ed25519 key`);
  const publicKey = spkiOf(key).toString('base64');
  return { id: keyIdOf(publicKey), publicKey, sign: (text) => sign(null, Buffer.from(text), key).toString('base64') };
}

/** Creates a key file that is readable only by its owner. After a crash it is complete or missing. */
export function makeKey(path: string): SigningKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}.tmp`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx', flush: true });
  renameSync(fresh, path);
  syncFolder(dirname(path));
  return readKey(path) as SigningKey;
}

/** A public key with a signature by the previous key. The first key signs itself, and so does a key that was put there by hand. */
const keyRecord = z.strictObject({
  kind: z.literal('key'),
  key: z.string(),
  public_key: z.string(),
  at: z.int(),
  introduced_by: z.string().nullable(),
  signature: z.string(),
});

/** The file name contains a dot, so it cannot be a workspace name. */
const keysPath = (folder: string): string => join(folder, 'anchor.keys.jsonl');

/** All keys that may have signed anchors of this home. */
export interface KnownKeys {
  readonly publicKeys: ReadonlyMap<string, string>;
  readonly notices: readonly string[];
}

export function readKeys(folder: string): KnownKeys {
  const publicKeys = new Map<string, string>();
  const notices: string[] = [];
  for (const { value, number } of readLines(keysPath(folder))) {
    const { data, success } = keyRecord.safeParse(value);
    if (!success) {
      notices.push(`anchor.keys.jsonl, line ${number}: unreadable, skipped`);
      continue;
    }
    const { signature, ...signed } = data;
    const by = data.introduced_by === null ? data.public_key : publicKeys.get(data.introduced_by);
    if (by === undefined || keyIdOf(data.public_key) !== data.key || !isSignedBy(by, canonicalJson(signed), signature)) {
      notices.push(`anchor.keys.jsonl, line ${number}: the signature is invalid, so key ${data.key} is ignored`);
      continue;
    }
    if (data.introduced_by === null && publicKeys.size > 0) notices.push(`key ${data.key} was not introduced by an earlier key`);
    publicKeys.set(data.key, data.public_key);
  }
  return { publicKeys, notices };
}

function introduce(folder: string, { id, publicKey }: SigningKey, by: SigningKey | null, signer: SigningKey, at: number): void {
  const record = { kind: 'key' as const, key: id, public_key: publicKey, at, introduced_by: by?.id ?? null };
  appendLine(keysPath(folder), canonicalJson({ ...record, signature: signer.sign(canonicalJson(record)) }));
}

/**
 * Returns the key that signs new anchors, and creates it if it is missing. If someone put another key there by hand, that key is recorded without a signature
 * by the previous key.
 */
export function currentKey(folder: string, path: string, at: number): SigningKey {
  const key = readKey(path) ?? makeKey(path);
  if (!readKeys(folder).publicKeys.has(key.id)) introduce(folder, key, null, key, at);
  return key;
}

/** Creates a new key, signs it with the old key, and deletes the old key. */
export function rotateKey(folder: string, path: string, at: number): { key: string; previous: string } {
  const old = currentKey(folder, path, at);
  const waiting = `${path}.next`;
  rmSync(waiting, { force: true });
  const fresh = makeKey(waiting);
  // The signature by the old key is written first. If the program crashes before the rename, the old key stays in use.
  introduce(folder, fresh, old, old, at);
  renameSync(waiting, path);
  syncFolder(dirname(path));
  return { key: fresh.id, previous: old.id };
}
