import { BEGINNING, type ChainPoint, canonicalJson, chainHash, type JournalEvent } from './journal.ts';

/** The kind of the event that a prune appends to the journal. */
export const PRUNED = 'journal.pruned';

export const attestsCut = ({ category, kind, payload }: JournalEvent, { seq, hash }: ChainPoint): boolean =>
  category === 'audit' && kind === PRUNED && payload.through_seq === seq && payload.root === hash;

export const unattestedCut = ({ seq }: ChainPoint): ChainBreak => ({ seq, kind: null, reason: `no event attests that the journal was cut at ${seq}` });

export interface ChainBreak {
  seq: number;
  kind: string | null;
  reason: string;
}

/** Verifies the hash chain of a journal page by page, from its beginning or from a point that is already verified. Stops at the first break. */
export class ChainVerifier {
  readonly #start: ChainPoint;
  readonly #cuts: JournalEvent[] = [];
  #previous: string;
  #next: number;
  #first: ChainBreak | undefined;

  constructor(verified = BEGINNING) {
    this.#start = verified;
    this.#previous = verified.hash;
    this.#next = verified.seq + 1;
  }

  /** The last event with a valid hash, and the first break if one was found. */
  get reached(): { seq: number; hash: string; firstBreak: ChainBreak | null } {
    return { seq: this.#next - 1, hash: this.#previous, firstBreak: this.#first ?? null };
  }

  add(event: JournalEvent): void {
    if (this.#first) return;
    if (event.seq !== this.#next) {
      const reason = event.seq > this.#next ? `event ${this.#next} is missing` : `event ${event.seq} is out of order`;
      this.#first = { seq: this.#next, kind: null, reason };
      return;
    }
    const expected = chainHash(this.#previous, { ...event, payload: canonicalJson(event.payload) });
    if (event.hash !== expected) {
      this.#first = { seq: event.seq, kind: event.kind, reason: 'its content does not match its hash' };
      return;
    }
    if (event.kind === PRUNED) this.#cuts.push(event);
    this.#previous = expected;
    this.#next++;
  }

  /**
   * `head` tells how long the chain must be: if the last events were removed, the chain has no gap that would show it. If a pruned journal was verified from
   * its `anchor`, one of its events must confirm the anchor, because the anchor's row alone could be forged.
   */
  finish(head: ChainPoint | undefined, anchor: ChainPoint = BEGINNING): { valid: boolean; events: number; root: string; firstBreak: ChainBreak | null } {
    const last = this.#next - 1;
    if (!this.#first && (head?.seq ?? 0) !== last) {
      this.#first = { seq: this.#next, kind: null, reason: `the journal's head is at ${head?.seq ?? 0}` };
    }
    if (!this.#first && head && head.hash !== this.#previous) {
      this.#first = { seq: last, kind: null, reason: "the journal's head has a different root hash" };
    }
    if (!this.#first && anchor.seq > 0 && !this.#cuts.some((event) => attestsCut(event, anchor))) this.#first = unattestedCut(anchor);
    return { valid: !this.#first, events: last - this.#start.seq, root: this.#previous, firstBreak: this.#first ?? null };
  }
}
