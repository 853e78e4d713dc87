import { readFileSync } from 'node:fs';
import { StoreError } from '../errors.ts';
import type { AnchorPoint, KeptAnchors } from './file.ts';
import { keyIdOf, readKeys } from './keys.ts';
import { readLines } from './lines.ts';
import { type AnchorRecord, hasValidSignature, parseAnchor } from './record.ts';

/** The given file cannot be compared with a journal. The message gives the reason. */
export class AnchorUnreadable extends StoreError {
  override readonly name = 'AnchorUnreadable';
}

const PLAIN = /^(\d+) ([0-9a-f]{64})$/;

/**
 * Reads anchors that someone stored outside the home: a copy of the anchor file, the output of `audit anchor --json`, or the number and hash of an event. If
 * the file contains a public key, that key is used instead of the home's keys, because those may have been replaced. A restore does not invalidate these
 * anchors, because they prove which events once existed.
 */
export function readGivenAnchors(path: string, workspace: string, folder: string): Pick<KeptAnchors, 'points' | 'cuts' | 'forged' | 'notices'> {
  const { publicKeys } = readKeys(folder);
  const points: AnchorPoint[] = [];
  const cuts: AnchorRecord[] = [];
  const notices: string[] = [];
  const forged: { seq: number; reason: string }[] = [];
  const lines = isOneObject(path) ?? readLines(path);
  for (const { number, text, value } of lines) {
    const told = (value ?? {}) as { anchor?: unknown; public_key?: unknown; seq?: unknown; root?: unknown };
    const [, seq, hash] = PLAIN.exec('root' in told && !told.anchor ? `${told.seq} ${told.root}` : text.trim()) ?? [];
    if (seq !== undefined && hash !== undefined) {
      points.push({ seq: Number(seq), hash, time: Number.POSITIVE_INFINITY, at: 0 });
      continue;
    }
    if (value === undefined) {
      notices.push(`${path}, line ${number}: incomplete, skipped`);
      continue;
    }
    const record = parseAnchor(told.anchor ?? value);
    if (!record) throw new AnchorUnreadable(`${path}, line ${number}: not an anchor`);
    if (record.workspace !== workspace)
      throw new AnchorUnreadable(`${path}, line ${number}: this anchor belongs to workspace ${record.workspace.replace(/^ws_/, '')}`);
    const own = typeof told.public_key === 'string' ? [[keyIdOf(told.public_key), told.public_key] as const] : [];
    if (hasValidSignature(record, new Map([...publicKeys, ...own]))) (record.kind === 'pruned' ? cuts : points).push(record);
    else forged.push({ seq: record.seq, reason: `${path}, line ${number}: the signature by key ${record.key} is invalid` });
  }
  if (points.length + forged.length === 0) throw new AnchorUnreadable(`${path}: it contains no anchor`);
  return { points: points.filter(({ seq }) => seq > 0).toSorted((a, b) => a.seq - b.seq), cuts, forged, notices };
}

/** Returns the content if the whole file is one JSON object, which may span several lines. */
function isOneObject(path: string): { number: number; text: string; value: unknown }[] | undefined {
  const text = readFileSync(path, 'utf8').trim();
  try {
    return [{ number: 1, text, value: JSON.parse(text) as unknown }];
  } catch {
    return undefined;
  }
}
