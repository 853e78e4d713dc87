import type { ChainBreak } from '../chain-verifier.ts';
import type { ChainPoint, JournalEvent } from '../journal.ts';
import type { AnchorPoint, KeptAnchors } from './file.ts';

export interface AnchorReport {
  readonly checked: number;
  readonly failed: number;
  readonly firstBreak: ChainBreak | null;
}

/** Compares a journal with its anchors while the events are read in order. */
export class AnchorCheck {
  readonly #points: readonly AnchorPoint[];
  readonly #hashes = new Map<number, string>();
  /** Maps an anchor to the first event before the anchored event that has a later time. Such an event was written in place of the original one. */
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

  /** `pruned`: the point that the oldest remaining event is chained to. This must be the beginning of the journal, or the end of a signed prune. */
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
    const anchor = `the anchor of ${new Date(point.at).toISOString()} covers event ${point.seq}`;
    const younger = this.#younger.get(point);
    if (younger !== undefined)
      return { seq: younger, kind: null, reason: `event ${younger} replaced another event: it has a later time than event ${point.seq}, and ${anchor}` };
    if (head < point.seq) return { seq: head + 1, kind: null, reason: `event ${head + 1} is missing: ${anchor}` };
    return { seq: agreed + 1, kind: null, reason: `events from ${agreed + 1} on were rewritten: ${anchor} with a different hash` };
  }
}

/**
 * Reports a journal whose first events were removed without a signature. The journal's own event about the prune proves nothing, because anyone who can write
 * to the database could forge it.
 */
export function unsignedCut({ seq, hash }: ChainPoint, cuts: readonly ChainPoint[]): ChainBreak | null {
  if (seq === 0 || cuts.some((cut) => cut.seq === seq && cut.hash === hash)) return null;
  const first = cuts.reduce((most, cut) => (cut.seq < seq ? Math.max(most, cut.seq) : most), 0) + 1;
  return { seq: first, kind: null, reason: `events ${first} to ${seq} are missing, and no signed line records that they were pruned` };
}

/** A line without a valid signature counts as a failed anchor. */
export function withForged({ checked, failed, firstBreak }: AnchorReport, forged: KeptAnchors['forged']): AnchorReport {
  const [first] = forged;
  const broken: ChainBreak | null = first ? { seq: first.seq, kind: null, reason: first.reason } : null;
  return { checked: checked + forged.length, failed: failed + forged.length, firstBreak: firstBreak ?? broken };
}

export const earlierBreak = (one: ChainBreak | null, other: ChainBreak | null): ChainBreak | null => (!one || (other && other.seq < one.seq) ? other : one);
