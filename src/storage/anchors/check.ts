import { readFileSync } from 'node:fs';
import { StoreError } from '../errors.ts';
import type { ChainBreak, ChainPoint, JournalEvent } from '../journal.ts';
import { type AnchorPoint, type AnchorRecord, isSound, type KeptAnchors, readAnchor } from './file.ts';
import { keyIdOf, readKeys } from './keys.ts';
import { readLines } from './lines.ts';

export interface AnchorReport {
  readonly checked: number;
  readonly failed: number;
  readonly firstBreak: ChainBreak | null;
}

/** Compares a journal with its anchors while it is read, event by event and in order. */
export class AnchorCheck {
  readonly #points: readonly AnchorPoint[];
  readonly #hashes = new Map<number, string>();
  /** The first event up to an anchor that is younger than the event it was made of: it took the place of another. */
  readonly #younger = new Map<AnchorPoint, number>();
  #next = 0;

  constructor(points: readonly AnchorPoint[]) {
    this.#points = points.toSorted((a, b) => a.seq - b.seq);
  }

  add({ seq, hash, time }: Pick<JournalEvent, 'seq' | 'hash' | 'time'>): void {
    while ((this.#points[this.#next]?.seq ?? Number.POSITIVE_INFINITY) < seq) this.#next++;
    const point = this.#points[this.#next];
    if (!point) return;
    if (point.seq === seq) this.#hashes.set(seq, hash);
    if (time > point.time && !this.#younger.has(point)) this.#younger.set(point, seq);
  }

  /** `pruned`: what the first event there is is chained to. It must be one of the cuts that were signed, or the beginning. */
  finish(head: ChainPoint | undefined, pruned: ChainPoint, cuts: readonly ChainPoint[]): AnchorReport {
    let firstBreak = this.#points.length > 0 ? unsignedCut(pruned, cuts) : null;
    let agreed = pruned.seq;
    let checked = firstBreak ? 1 : 0;
    let failed = checked;
    for (const point of this.#points) {
      if (point.seq < pruned.seq) continue;
      checked++;
      const found = point.seq === pruned.seq ? pruned.hash : this.#hashes.get(point.seq);
      if (found === point.hash) {
        agreed = Math.max(agreed, point.seq);
        continue;
      }
      failed++;
      firstBreak ??= this.#breakAt(point, agreed, head?.seq ?? 0);
    }
    return { checked, failed, firstBreak };
  }

  #breakAt(point: AnchorPoint, agreed: number, head: number): ChainBreak {
    const anchor = `the anchor of ${new Date(point.at).toISOString()} is of event ${point.seq}`;
    const younger = this.#younger.get(point);
    if (younger !== undefined) return { seq: younger, kind: null, reason: `event ${younger} took the place of another: it is younger, and ${anchor}` };
    if (head < point.seq) return { seq: head + 1, kind: null, reason: `event ${head + 1} is missing: ${anchor}` };
    return { seq: agreed + 1, kind: null, reason: `events from ${agreed + 1} on were rewritten: ${anchor}, and had another hash` };
  }
}

/** The event that attests a cut needs no key: whoever can write the database can make one up. */
export function unsignedCut({ seq, hash }: ChainPoint, cuts: readonly ChainPoint[]): ChainBreak | null {
  if (seq === 0 || cuts.some((cut) => cut.seq === seq && cut.hash === hash)) return null;
  const first = cuts.reduce((most, cut) => (cut.seq < seq ? Math.max(most, cut.seq) : most), 0) + 1;
  return { seq: first, kind: null, reason: `events ${first} to ${seq} are missing, and no signed line says that they were pruned` };
}

/** A line that nobody with the key has written counts as an anchor that failed. */
export function withForged({ checked, failed, firstBreak }: AnchorReport, forged: KeptAnchors['forged']): AnchorReport {
  const [first] = forged;
  const broken: ChainBreak | null = first ? { seq: first.seq, kind: null, reason: first.reason } : null;
  return { checked: checked + forged.length, failed: failed + forged.length, firstBreak: firstBreak ?? broken };
}

/** The first of two. */
export const earlier = (one: ChainBreak | null, other: ChainBreak | null): ChainBreak | null => (!one || (other && other.seq < one.seq) ? other : one);

/** Why a file cannot be compared with a journal. */
export class AnchorUnreadable extends StoreError {
  override readonly name = 'AnchorUnreadable';
}

const PLAIN = /^(\d+) ([0-9a-f]{64})$/;

/**
 * Anchors that somebody kept elsewhere: a copy of the home's file, what `audit anchor --json` printed, or a number and a hash. Their own public key
 * counts before the home's, which may have been replaced since. None of them is set aside: they say what was once there.
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
      notices.push(`${path}, line ${number}: it was cut short and was passed over`);
      continue;
    }
    const record = readAnchor(told.anchor ?? value);
    if (!record) throw new AnchorUnreadable(`${path}, line ${number}: this is no anchor`);
    if (record.workspace !== workspace)
      throw new AnchorUnreadable(`${path}, line ${number}: this anchor is of the workspace ${record.workspace.replace(/^ws_/, '')}`);
    const own = typeof told.public_key === 'string' ? [[keyIdOf(told.public_key), told.public_key] as const] : [];
    if (isSound(record, new Map([...publicKeys, ...own]))) (record.kind === 'pruned' ? cuts : points).push(record);
    else forged.push({ seq: record.seq, reason: `${path}, line ${number}: the signature by the key ${record.key} does not fit` });
  }
  if (points.length + forged.length === 0) throw new AnchorUnreadable(`${path}: there is no anchor in it`);
  return { points: points.filter(({ seq }) => seq > 0).toSorted((a, b) => a.seq - b.seq), cuts, forged, notices };
}

/** JSON that somebody has laid out over several lines. */
function isOneObject(path: string): { number: number; text: string; value: unknown }[] | undefined {
  const text = readFileSync(path, 'utf8').trim();
  try {
    return [{ number: 1, text, value: JSON.parse(text) as unknown }];
  } catch {
    return undefined;
  }
}
