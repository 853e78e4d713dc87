import { hash as digest } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson, GENESIS } from '../journal.ts';
import { isSignedBy, type SigningKey } from './keys.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * A signed record of the event that was the journal's last one at the time of signing. The kinds `restored` and `imported` also record that the store was replaced: earlier anchors stay
 * valid only up to the event `keeps`. The kind `pruned` records the last event that a prune removes.
 */
const anchorRecord = z.strictObject({
  kind: z.enum(['anchor', 'restored', 'imported', 'pruned']),
  workspace: z.string(),
  seq: z.int().min(0),
  hash: sha256,
  /** The time of the recorded event. */
  time: z.int(),
  at: z.int(),
  keeps: z.int().min(0).optional(),
  /** SHA-256 of the previous line in the file. The first line has zeros here. */
  previous: sha256,
  key: z.string(),
  signature: z.string(),
});
export type AnchorRecord = z.output<typeof anchorRecord>;
export type UnsignedAnchor = Omit<AnchorRecord, 'key' | 'signature' | 'previous'>;

export const FIRST = GENESIS;
export const digestOf = (line: string): string => digest('sha256', line);

/** Returns the signed record, and the same record as a line for the file. */
export function signAnchor(anchor: UnsignedAnchor, previous: string, key: SigningKey): { record: AnchorRecord; line: string } {
  const unsigned = { ...anchor, previous, key: key.id };
  const record = { ...unsigned, signature: key.sign(canonicalJson(unsigned)) };
  return { record, line: canonicalJson(record) };
}

export function parseAnchor(value: unknown): AnchorRecord | undefined {
  const read = anchorRecord.safeParse(value);
  return read.success ? read.data : undefined;
}

export function hasValidSignature({ signature, ...unsigned }: AnchorRecord, publicKeys: ReadonlyMap<string, string>): boolean {
  const key = publicKeys.get(unsigned.key);
  return key !== undefined && isSignedBy(key, canonicalJson(unsigned), signature);
}
