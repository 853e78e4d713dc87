import {
  backgroundFileShare,
  combine,
  countedTerms,
  damped,
  type Indexed,
  inverseFrequency,
  keyWeight,
  type PathKey,
  pathKeys,
  product,
  type Query,
  type Scored,
  type Statistics,
  scoreWeighed,
  squares,
  type Weighed,
  weigh,
} from './score.ts';
import type { OverlapSettings } from './settings.ts';
import { backgroundShare } from './terms.ts';

/** An upper bound is summed in another order than the score. This factor prevents rounding from putting it below the score. */
const ROUNDING = 1 + 1e-9;

/** A term or file key with the slots of the items that contain it. For a term, also its damped count in each item. */
interface KeyList {
  readonly key: string;
  readonly share: number;
  readonly slots: number[];
  readonly counts: number[];
}

/** An item with its key lists. A search visits hundreds of items, and looking up each key by its text would take far longer. */
interface Slot {
  readonly item: Indexed;
  readonly terms: readonly KeyList[];
  /** Damped counts of the terms without the words of the title prefix. They are used if the prefix marks a batch. */
  readonly reduced: readonly number[];
  readonly files: readonly KeyList[];
  readonly kinds: readonly PathKey['kind'][];
  readonly vector: Float32Array | undefined;
  readonly vectorSquares: number;
  /** The lengths of the item in one version of the index. Adding or removing any item changes all weights. */
  lengths: { readonly norm: number; readonly keySum: number; readonly version: number; readonly settings: OverlapSettings } | undefined;
}

export interface IndexSearchOptions {
  readonly limit: number;
  /** Minimum score. Items that share nothing with the query are never results. */
  readonly atLeast?: number | undefined;
  readonly accept?: ((id: string) => boolean) | undefined;
}

/**
 * All live items of a workspace, with the frequencies of their words and files. A search first computes an upper bound of each score from
 * what the item shares with the query. Only items with a high enough bound are scored by `scoreWeighed`.
 */
export class MemoryIndex implements Statistics {
  readonly #slotOf = new Map<string, number>();
  readonly #slots: (Slot | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #terms = new Map<string, KeyList>();
  readonly #files = new Map<string, KeyList>();
  readonly #prefixes = new Map<string, number>();
  #version = 0;
  /** The products of each item with the current query. All zero between searches. */
  #products = new Float64Array(64);
  #commons = new Float64Array(64);

  get documents(): number {
    return this.#slotOf.size;
  }

  frequency(term: string): number {
    return this.#terms.get(term)?.slots.length ?? 0;
  }

  fileFrequency(key: string): number {
    return this.#files.get(key)?.slots.length ?? 0;
  }

  prefixFrequency(prefix: string): number {
    return this.#prefixes.get(prefix) ?? 0;
  }

  put(item: Indexed): void {
    this.delete(item.id);
    const slot = this.#free.pop() ?? this.#slots.length;
    if (slot >= this.#products.length) {
      this.#products = new Float64Array(slot * 2);
      this.#commons = new Float64Array(slot * 2);
    }
    const { analysed, files, vector } = item;
    const reduced = countedTerms(analysed, true);
    const kinds = new Map(files.flatMap((file) => pathKeys(file)).map(({ key, kind }) => [key, kind]));
    this.#slots[slot] = {
      item,
      terms: analysed.terms.map((term, at) => listed(this.#terms, term, backgroundShare, slot, damped(analysed.counts[at] as number))),
      reduced: analysed.terms.map((term) => damped(reduced.get(term) ?? 0)),
      files: Array.from(kinds.keys(), (key) => listed(this.#files, key, backgroundFileShare, slot, 1)),
      kinds: [...kinds.values()],
      vector,
      vectorSquares: vector ? squares(vector) : 0,
      lengths: undefined,
    };
    this.#version++;
    this.#slotOf.set(item.id, slot);
    if (analysed.prefix !== null) this.#prefixes.set(analysed.prefix, this.prefixFrequency(analysed.prefix) + 1);
  }

  delete(id: string): void {
    const number = this.#slotOf.get(id);
    if (number === undefined) return;
    const { item, terms, files } = this.#slots[number] as Slot;
    const { prefix } = item.analysed;
    const left = prefix === null ? 0 : this.prefixFrequency(prefix) - 1;
    if (prefix !== null && left > 0) this.#prefixes.set(prefix, left);
    else if (prefix !== null) this.#prefixes.delete(prefix);
    for (const list of terms) unlist(this.#terms, list, number);
    for (const list of files) unlist(this.#files, list, number);
    this.#slots[number] = undefined;
    this.#slotOf.delete(id);
    this.#free.push(number);
    this.#version++;
  }

  /** The best items, best first. Of equal scores, the lower id first. */
  search(query: Query, settings: OverlapSettings, { limit, atLeast = 0, accept }: IndexSearchOptions): Scored[] {
    const mine = weigh(query, this, settings);
    const best: Scored[] = [];
    for (const { slot, product, common, embedding, highest } of this.#candidates(query, mine, atLeast, settings)) {
      const worst = best[limit - 1]?.score ?? atLeast;
      if (highest < worst) break;
      // Most items share only a common word or a folder with the query. Their own length rules them out before scoring.
      const { norm, keySum } = this.#lengthsOf(slot, settings);
      const lengths = { norm: Math.max(norm, product / mine.norm), keySum };
      if (combine({ product, common, embedding }, mine, lengths, settings).score * ROUNDING < worst) continue;
      if (accept && !accept(slot.item.id)) continue;
      const scored = scoreWeighed(query, mine, slot.item, this, settings);
      if (scored.score <= 0 || scored.score < worst) continue;
      best.push(scored);
      best.sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1));
      if (best.length > limit) best.pop();
    }
    return best;
  }

  /** Items that may reach the minimum score, most promising first. Each comes with its product with the query. */
  #candidates(query: Query, mine: Weighed, atLeast: number, settings: OverlapSettings) {
    const touched = this.#share(mine, settings);
    const vector = query.vector?.length ? query.vector : undefined;
    const mySquares = vector ? squares(vector) : 0;
    const candidates = [];
    for (const number of vector ? this.#slotOf.values() : touched) {
      const slot = this.#slots[number] as Slot;
      const inCommon = this.#products[number] as number;
      const common = this.#commons[number] as number;
      this.#products[number] = this.#commons[number] = 0;
      let embedding: number | null = null;
      if (vector && slot.vector?.length === vector.length) {
        const lengths = mySquares * slot.vectorSquares;
        if (lengths > 0) embedding = product(vector, slot.vector) / Math.sqrt(lengths);
      }
      // A text is at least as long as the part that the product shows (Cauchy-Schwarz), and a list of files at least as long as its shared part.
      const shortest = { norm: inCommon / mine.norm, keySum: common };
      const highest = combine({ product: inCommon, common, embedding }, mine, shortest, settings).score * ROUNDING;
      if (highest > 0 && highest >= atLeast) candidates.push({ slot, product: inCommon, common, embedding, highest });
    }
    return candidates.sort((one, other) => other.highest - one.highest);
  }

  /** Sums up what each item shares with the query, over the query's keys only. Returns the slots of items that share anything. */
  #share({ terms, keys }: Weighed, settings: OverlapSettings): number[] {
    const [products, commons] = [this.#products, this.#commons];
    const touched: number[] = [];
    for (const [term, weight] of terms) {
      const list = this.#terms.get(term);
      if (!list) continue;
      const both = weight * this.#inverse(list, settings);
      // An item with a zero product would look unvisited and be listed twice.
      if (both === 0) continue;
      for (let at = 0; at < list.slots.length; at++) {
        const slot = list.slots[at] as number;
        if (products[slot] === 0) touched.push(slot);
        products[slot] = (products[slot] as number) + both * (list.counts[at] as number);
      }
    }
    for (const [key, weight] of keys) {
      for (const slot of this.#files.get(key)?.slots ?? []) {
        if (products[slot] === 0 && commons[slot] === 0) touched.push(slot);
        commons[slot] = (commons[slot] as number) + weight;
      }
    }
    return touched;
  }

  /** The lengths of the item without the words of its prefix, whether or not the prefix marks a batch. */
  #lengthsOf(slot: Slot, settings: OverlapSettings) {
    if (slot.lengths?.version === this.#version && slot.lengths.settings === settings) return slot.lengths;
    const { terms, reduced, files, kinds } = slot;
    let sum = 0;
    for (let at = 0; at < terms.length; at++) sum += ((reduced[at] as number) * this.#inverse(terms[at] as KeyList, settings)) ** 2;
    let keySum = 0;
    for (let at = 0; at < files.length; at++) keySum += keyWeight(kinds[at] as PathKey['kind'], settings) * this.#inverse(files[at] as KeyList, settings);
    slot.lengths = { norm: Math.sqrt(sum), keySum, version: this.#version, settings };
    return slot.lengths;
  }

  #inverse({ slots, share }: KeyList, settings: OverlapSettings): number {
    return inverseFrequency(this.documents, slots.length, share, settings);
  }
}

function listed(lists: Map<string, KeyList>, key: string, shareOf: (key: string) => number, slot: number, count: number): KeyList {
  const list = lists.get(key) ?? { key, share: shareOf(key), slots: [], counts: [] };
  lists.set(key, list);
  list.slots.push(slot);
  list.counts.push(count);
  return list;
}

function unlist(lists: Map<string, KeyList>, { key, slots, counts }: KeyList, slot: number): void {
  const at = slots.indexOf(slot);
  for (const column of [slots, counts]) {
    const last = column.pop() as number;
    if (at < column.length) column[at] = last;
  }
  if (slots.length === 0) lists.delete(key);
}
