/** Kept beyond the limit, so that rounding cannot decide who is in. */
const MARGIN = 8;
const ROUNDING = 1 + 1e-9;

interface Kept {
  readonly slot: number;
  readonly score: number;
  readonly id: string;
}

/** The items with the highest scores, without sorting all of them; of equals the lower id. */
export class Best {
  readonly #kept: Kept[] = [];
  readonly #capacity: number;

  constructor(limit: number) {
    this.#capacity = limit + MARGIN;
  }

  /** Whether a score of at most this much could get in; rounding is on the side of yes. */
  mayTake(highest: number): boolean {
    const worst = this.#kept[this.#capacity - 1];
    return !worst || highest * ROUNDING >= worst.score;
  }

  takes(score: number, id: string): boolean {
    const worst = this.#kept[this.#capacity - 1];
    return !worst || score > worst.score || (score === worst.score && id < worst.id);
  }

  add(slot: number, score: number, id: string): void {
    let low = 0;
    let high = this.#kept.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#kept[middle] as Kept;
      if (other.score > score || (other.score === score && other.id < id)) low = middle + 1;
      else high = middle;
    }
    this.#kept.splice(low, 0, { slot, score, id });
    if (this.#kept.length > this.#capacity) this.#kept.pop();
  }

  get slots(): number[] {
    return this.#kept.map(({ slot }) => slot);
  }
}
