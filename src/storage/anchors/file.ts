import { join } from 'node:path';
import { readKeys } from './keys.ts';
import { readLines } from './lines.ts';
import { workspaceNameOf } from './name.ts';
import { type AnchorRecord, digestOf, FIRST, isSound, readAnchor } from './record.ts';

export const anchorFolder = (home: string): string => join(home, 'anchors');
export const anchorPath = (folder: string, workspace: string): string => join(folder, `${workspaceNameOf(workspace)}.jsonl`);

/** An anchor that the journal has to agree with. */
export type AnchorPoint = Pick<AnchorRecord, 'seq' | 'hash' | 'time' | 'at'>;

export interface KeptAnchors {
  /** Those that count, by `seq`. */
  readonly points: readonly AnchorPoint[];
  /** Lines that nobody with a key of this home has written. */
  readonly forged: readonly { readonly seq: number; readonly reason: string }[];
  /** What somebody who verifies should know, and is no fault. */
  readonly notices: readonly string[];
  /** Of the last line that can be read. */
  readonly lastDigest: string;
}

/** The anchors of a workspace in this home. */
export function readAnchorFile(folder: string, workspace: string): KeptAnchors {
  const { publicKeys, notices: aboutKeys } = readKeys(folder);
  const path = anchorPath(folder, workspace);
  const notices = [...aboutKeys];
  const forged: { seq: number; reason: string }[] = [];
  const digests = new Set([FIRST]);
  let points: AnchorPoint[] = [];
  let lastDigest = FIRST;
  for (const { number, text, value } of readLines(path)) {
    if (value === undefined) {
      notices.push(`${path}, line ${number}: it was cut short and was passed over`);
      continue;
    }
    const record = readAnchor(value);
    const problem = !record || record.workspace !== workspace ? 'this is no anchor of this workspace' : wrongWith(record);
    if (!record || problem !== undefined) {
      forged.push({ seq: record?.seq ?? 0, reason: `${path}, line ${number}: ${problem}` });
      continue;
    }
    lastDigest = digestOf(text);
    digests.add(lastDigest);
    if (record.kind !== 'anchor') points = setAside(record, points, notices);
    if (record.seq > 0) points.push(record);
  }
  return { points: points.toSorted((a, b) => a.seq - b.seq || a.at - b.at), forged, notices, lastDigest };

  function wrongWith(record: AnchorRecord): string | undefined {
    if (!isSound(record, publicKeys)) return `the signature by the key ${record.key} does not fit`;
    return digests.has(record.previous) ? undefined : 'the line before it is missing';
  }
}

const SAID = { restored: 'a backup was restored', imported: 'a workspace was imported' } as const;

/** What the store no longer has since it was replaced, as its operator had it signed. */
function setAside({ kind, at, keeps = 0 }: AnchorRecord, points: readonly AnchorPoint[], notices: string[]): AnchorPoint[] {
  const gone = points.filter(({ seq }) => seq > keeps);
  const last = gone.reduce((most, { seq }) => Math.max(most, seq), 0);
  if (last > 0)
    notices.push(`${new Date(at).toISOString()}: ${SAID[kind as keyof typeof SAID]}; events ${keeps + 1} to ${last} of before went with what was there`);
  return points.filter(({ seq }) => seq <= keeps);
}
