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

/** Upper bounds are multiplied by this factor. They are summed in another order than scores, so rounding could otherwise make a bound too small. */
const ROUNDING = 1 + 1e-9;

/** The slots of the items that contain a term or file key. For a term, `counts` contains its damped count in each item. */
interface KeyList {
  readonly key: string;
  readonly share: number;
  readonly slots: number[];
  readonly counts: number[];
}

/** An item with direct references to its key lists. A search visits hundreds of items, and looking up each key by its text would be too slow. */
interface Slot {
  readonly item: Indexed;
  readonly terms: readonly KeyList[];
  /** Damped counts of the terms, excluding the words of the title prefix. */
  readonly reduced: readonly number[];
  readonly files: readonly KeyList[];
  readonly kinds: readonly PathKey['kind'][];
  readonly vector: Float32Array | undefined;
  readonly vectorSquares: number;
  /** The cached lengths of the item. They are valid for only one version of the index, because each added or removed item changes all weights. */
  lengths: { readonly norm: number; readonly keySum: number; readonly version: number; readonly settings: OverlapSettings } | undefined;
}

export interface IndexSearchOptions {
  readonly limit: number;
  /** Items with a lower score are not returned. Items that share nothing with the query are never returned. */
  readonly atLeast?: number | undefined;
  readonly accept?: ((id: string) => boolean) | undefined;
}

/**
 * All indexed items of a workspace, with the frequencies of their words and files. To save time, a search first computes an upper bound for
 * the score of each item from what the item shares with the query. It calls `scoreWeighed` only for items whose bound is high enough.
 */
export class MemoryIndex implements Statistics {
  readonly #slotOf = new Map<string, number>();
  readonly #slots: (Slot | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #terms = new Map<string, KeyList>();
  readonly #files = new Map<string, KeyList>();
  readonly #prefixes = new Map<string, number>();
  #version = 0;
  /** For each slot, the product of the item and the current query. All values are zero between searches. */
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

  /** Returns the best items, best first. If two scores are equal, the lower id comes first. */
  search(query: Query, settings: OverlapSettings, { limit, atLeast = 0, accept }: IndexSearchOptions): Scored[] {
    const mine = weigh(query, this, settings);
    const best: Scored[] = [];
    for (const { slot, product, common, embedding, highest } of this.#candidates(query, mine, atLeast, settings)) {
      const worst = best[limit - 1]?.score ?? atLeast;
      if (highest < worst) break;
      // Most items share only a common word or a folder with the query. A bound with the item's real length rules them out without scoring.
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

  /** The items that can reach the minimum score, most promising first. Each is returned with the sums that its bound was computed from. */
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
      // These are the shortest lengths that the item can have. By Cauchy-Schwarz, a text is at least as long as product / query length, and a
      // list of files is at least as long as its shared part.
      const shortest = { norm: inCommon / mine.norm, keySum: common };
      const highest = combine({ product: inCommon, common, embedding }, mine, shortest, settings).score * ROUNDING;
      if (highest > 0 && highest >= atLeast) candidates.push({ slot, product: inCommon, common, embedding, highest });
    }
    return candidates.sort((one, other) => other.highest - one.highest);
  }

  /** Sums up, over the keys of the query, what each item shares with it. Returns the slots of the items that share at least one key. */
  #share({ terms, keys }: Weighed, settings: OverlapSettings): number[] {
    const [products, commons] = [this.#products, this.#commons];
    const touched: number[] = [];
    for (const [term, weight] of terms) {
      const list = this.#terms.get(term);
      if (!list) continue;
      const both = weight * this.#inverse(list, settings);
      // A product of zero means that an item was not visited yet. If a term added zero, the item could be listed twice.
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

  /** The lengths of the item, excluding the words of its title prefix. They are too short if the prefix marks no batch, which is safe for a bound. */
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
