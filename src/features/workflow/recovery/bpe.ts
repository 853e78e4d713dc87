import { Heap } from './heap.ts';

/** Ranks by the token's bytes, each byte one character. The lower a rank, the earlier two neighbours are merged into it. */
export type Ranks = ReadonlyMap<string, number>;

export interface Tokenizer {
  /** How many tokens the text is. Stops counting once it is past `limit`, and then answers some number above it. */
  count(text: string, limit?: number): number;
  /** The beginning of the text that is at most `most` tokens of it, and no half of a character. */
  head(text: string, most: number): string;
}

/** Up to so many characters, all words are found at once, which is faster; beyond, few of very many may be needed. */
const BATCH_SIZE = 200_000;
/** No token is longer, in bytes. */
const LONGEST = 128;
/** Short words are remembered: ids come again and again. A longer one would keep the text alive that it was found in. */
const SHORT = 12;
const MAX_REMEMBERED = 20_000;
const NONE = -1;
/** A rank and a place make one number: ranks stay below 2^18, so 2^34 places leave it exact. */
const PLACES = 2 ** 34;

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** UTF-8, each byte one character. */
export const asBytes = (text: string): string => (isAscii(text) ? text : Buffer.from(text).toString('latin1'));

/**
 * Byte pair encoding. The text is split into words by `split`, and in each the pair of lowest rank is merged until none is
 * left. Marks of the model's own (`<|endoftext|>`) are text like any other here.
 *
 * The package that brings the ranks looks for the lowest pair by going through all of them, so that 100,000 letters without
 * a break take seconds in which nobody else is served. With a heap they take as long as other text.
 */
export class BytePairs implements Tokenizer {
  readonly #ranks: Ranks;
  readonly #split: RegExp;
  readonly #lengths = new Map<string, number>();

  constructor(ranks: Ranks, split: RegExp) {
    this.#ranks = ranks;
    this.#split = split;
  }

  count(text: string, limit = Number.POSITIVE_INFINITY): number {
    const bytesOf = isAscii(text) ? (word: string) => word : asBytes;
    let count = 0;
    for (const word of this.#words(text)) {
      // Past the limit in any case: then it need not be known by how much.
      if (word.length > (limit - count) * LONGEST) return limit + 1;
      count += this.#length(bytesOf(word));
      if (count > limit) break;
    }
    return count;
  }

  head(text: string, most: number): string {
    let room = most;
    let end = 0;
    for (const word of this.#words(text)) {
      const bytes = asBytes(word);
      const ends = this.#ends(bytes);
      if (ends.length > room) {
        const part = Buffer.from(bytes.slice(0, room > 0 ? ends[room - 1] : 0), 'latin1');
        return text.slice(0, end) + new TextDecoder('utf-8', { ignoreBOM: true }).decode(part, { stream: true });
      }
      room -= ends.length;
      end += word.length;
    }
    return text;
  }

  #words(text: string): Iterable<string> {
    return text.length <= BATCH_SIZE ? (text.match(this.#split) ?? []) : oneByOne(text, this.#split);
  }

  #length(bytes: string): number {
    if (this.#ranks.has(bytes)) return 1;
    const known = this.#lengths.get(bytes);
    if (known !== undefined) return known;
    const { length } = this.#ends(bytes);
    if (bytes.length > SHORT) return length;
    if (this.#lengths.size >= MAX_REMEMBERED) this.#lengths.clear();
    this.#lengths.set(bytes, length);
    return length;
  }

  /** Where each token of the word ends. */
  #ends(bytes: string): number[] {
    const length = bytes.length;
    if (this.#ranks.has(bytes)) return [length];
    const [next, previous] = [new Int32Array(length + 1), new Int32Array(length + 1)];
    /** The rank of what the part here and the one after it would make. NONE: nothing, or the part is gone. */
    const rank = new Int32Array(length).fill(NONE);
    for (let at = 0; at <= length; at++) {
      next[at] = at + 1;
      previous[at] = at - 1;
    }
    const heap = new Heap();
    const weigh = (at: number): void => {
      const middle = next[at] as number;
      const found = middle < length ? this.#ranks.get(bytes.slice(at, next[middle])) : undefined;
      rank[at] = found ?? NONE;
      if (found !== undefined) heap.push(found * PLACES + at);
    };
    for (let at = 0; at < length - 1; at++) weigh(at);
    for (let lowest = heap.pop(); lowest !== undefined; lowest = heap.pop()) {
      const at = lowest % PLACES;
      if (rank[at] !== Math.floor(lowest / PLACES)) continue;
      const gone = next[at] as number;
      const after = next[gone] as number;
      rank[gone] = NONE;
      next[at] = after;
      previous[after] = at;
      weigh(at);
      if (at > 0) weigh(previous[at] as number);
    }
    const ends: number[] = [];
    for (let at = 0; at < length; at = next[at] as number) ends.push(next[at] as number);
    return ends;
  }
}

function* oneByOne(text: string, split: RegExp): Generator<string> {
  for (const [word] of text.matchAll(split)) yield word;
}
