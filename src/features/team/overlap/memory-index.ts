import {
  backgroundFileShare,
  combine,
  commonness,
  countedTerms,
  damped,
  filesOf,
  highestText,
  type Indexed,
  isBatch,
  keyWeight,
  type PathKey,
  pathKeys,
  product,
  type Query,
  rarity,
  type Scored,
  type Statistics,
  scoreWeighed,
  squares,
  textOf,
  weigh,
} from './score.ts';
import { DEFAULT_SETTINGS, type OverlapSettings } from './settings.ts';
import { backgroundShare } from './terms.ts';

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

/** The items in which one key stands. Two values for each: as written, and with the words of a batch's prefix taken away. */
interface KeyList {
  readonly key: string;
  readonly id: number;
  readonly share: number;
  readonly slots: number[];
  readonly full: number[];
  readonly reduced: number[];
}

interface SlotKeys {
  readonly ids: Int32Array;
  readonly full: Float64Array;
  readonly reduced: Float64Array;
}

export type IndexEntry = readonly [key: string, full: number, reduced: number];

const NONE: SlotKeys = { ids: new Int32Array(0), full: new Float64Array(0), reduced: new Float64Array(0) };

/**
 * An inverted list in memory: from key to items, and back from item to keys. Keys have numbers and lie in flat arrays, because every
 * item that comes or goes changes all weights, and the next search walks through all of them.
 */
export class Inverted {
  readonly #lists = new Map<string, KeyList>();
  readonly #byId: (KeyList | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #slots: (SlotKeys | undefined)[] = [];
  readonly #shareOf: (key: string) => number;
  #background: number;
  /** `commonness` of each key: it moves only with the key's own items. */
  commonness = new Float64Array(1024);

  constructor(shareOf: (key: string) => number, background: number) {
    this.#shareOf = shareOf;
    this.#background = background;
  }

  setBackground(background: number): void {
    if (background === this.#background) return;
    this.#background = background;
    for (const list of this.#lists.values()) this.#weigh(list);
  }

  add(slot: number, entries: readonly IndexEntry[]): void {
    const ids = new Int32Array(entries.length);
    for (const [at, [key, full, reduced]] of entries.entries()) {
      const list = this.#lists.get(key) ?? this.#open(key);
      list.slots.push(slot);
      list.full.push(full);
      list.reduced.push(reduced);
      ids[at] = list.id;
      this.#weigh(list);
    }
    this.#slots[slot] = { ids, full: Float64Array.from(entries, ([, full]) => full), reduced: Float64Array.from(entries, ([, , reduced]) => reduced) };
  }

  remove(slot: number): void {
    for (const id of this.of(slot).ids) {
      const list = this.#byId[id] as KeyList;
      const at = list.slots.indexOf(slot);
      for (const column of [list.slots, list.full, list.reduced]) {
        const last = column.pop() as number;
        if (at < column.length) column[at] = last;
      }
      this.#weigh(list);
      if (list.slots.length > 0) continue;
      this.#lists.delete(list.key);
      this.#byId[id] = undefined;
      this.#free.push(id);
    }
    this.#slots[slot] = undefined;
  }

  get(key: string): KeyList | undefined {
    return this.#lists.get(key);
  }

  of(slot: number): SlotKeys {
    return this.#slots[slot] ?? NONE;
  }

  frequency(key: string): number {
    return this.#lists.get(key)?.slots.length ?? 0;
  }

  #weigh(list: KeyList): void {
    this.commonness[list.id] = commonness(list.slots.length, list.share, this.#background);
  }

  #open(key: string): KeyList {
    const id = this.#free.pop() ?? this.#byId.length;
    const list = { key, id, share: this.#shareOf(key), slots: [], full: [], reduced: [] };
    this.#lists.set(key, list);
    this.#byId[id] = list;
    if (id >= this.commonness.length) this.commonness = extended(this.commonness, 0);
    return list;
  }
}

export function extended(old: Float64Array<ArrayBuffer>, fill: number): Float64Array<ArrayBuffer> {
  const next = new Float64Array(old.length * 2).fill(fill);
  next.set(old);
  return next;
}

const KINDS: readonly PathKey['kind'][] = ['path', 'base', 'directory'];

export interface IndexSearchOptions {
  readonly limit: number;
  readonly accept?: ((id: string) => boolean) | undefined;
}

/** All live items of a workspace, with exactly the scores of `scorePair`. */
export class MemoryIndex implements Statistics {
  readonly #slotOf = new Map<string, number>();
  readonly #items: (Indexed | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #terms = new Inverted(backgroundShare, DEFAULT_SETTINGS.background);
  readonly #files = new Inverted(backgroundFileShare, DEFAULT_SETTINGS.background);
  readonly #prefixes = new Map<string, number>();
  readonly #vectorSquares: number[] = [];
  /** Length of a text's vector and sum of its file weights, as of `#measured`: both move with every item that comes or goes. */
  #norms = new Float64Array(64);
  #keySums = new Float64Array(64);
  #measured = new Float64Array(64).fill(-1);
  #products = new Float64Array(64);
  #commons = new Float64Array(64);
  #seen = new Float64Array(64);
  #version = 0;
  #settings: OverlapSettings = DEFAULT_SETTINGS;
  #kindWeights = KINDS.map((kind) => keyWeight(kind, DEFAULT_SETTINGS));

  get size(): number {
    return this.#slotOf.size;
  }

  get documents(): number {
    return this.#slotOf.size;
  }

  has(id: string): boolean {
    return this.#slotOf.has(id);
  }

  frequency(term: string): number {
    return this.#terms.frequency(term);
  }

  fileFrequency(key: string): number {
    return this.#files.frequency(key);
  }

  prefixFrequency(prefix: string): number {
    return this.#prefixes.get(prefix) ?? 0;
  }

  put(item: Indexed): void {
    this.delete(item.id);
    const slot = this.#free.pop() ?? this.#items.length;
    this.#items[slot] = item;
    this.#slotOf.set(item.id, slot);
    this.#grow(slot);
    const { analysed, vector } = item;
    const reduced = countedTerms(analysed, true);
    this.#terms.add(
      slot,
      analysed.terms.map((term, at) => [term, damped(analysed.counts[at] as number), damped(reduced.get(term) ?? 0)]),
    );
    const kinds = new Map(item.files.flatMap((file) => pathKeys(file)).map(({ key, kind }) => [key, KINDS.indexOf(kind)]));
    this.#files.add(
      slot,
      Array.from(kinds, ([key, kind]) => [key, kind, kind]),
    );
    if (analysed.prefix !== null) this.#prefixes.set(analysed.prefix, this.prefixFrequency(analysed.prefix) + 1);
    this.#vectorSquares[slot] = vector ? squares(vector) : 0;
    this.#version++;
  }

  delete(id: string): boolean {
    const slot = this.#slotOf.get(id);
    if (slot === undefined) return false;
    const prefix = this.#items[slot]?.analysed.prefix ?? null;
    const left = prefix === null ? 0 : this.prefixFrequency(prefix) - 1;
    if (prefix !== null && left > 0) this.#prefixes.set(prefix, left);
    else if (prefix !== null) this.#prefixes.delete(prefix);
    this.#terms.remove(slot);
    this.#files.remove(slot);
    this.#items[slot] = undefined;
    this.#slotOf.delete(id);
    this.#free.push(slot);
    this.#version++;
    return true;
  }

  /** The best items, best first; what shares nothing with the query is no result. */
  search(query: Query, settings: OverlapSettings, { limit, accept }: IndexSearchOptions): Scored[] {
    if (settings !== this.#settings) this.#use(settings);
    const mine = weigh(query, this, settings);
    const touched = this.#accumulate(mine.terms, mine.keys, settings);
    const vector = query.vector?.length ? query.vector : undefined;
    const mySquares = vector ? squares(vector) : 0;
    const best = new Best(limit);
    for (const slot of vector ? this.#slotOf.values() : touched) {
      const item = this.#items[slot] as Indexed;
      const inCommon = this.#products[slot] as number;
      const common = this.#commons[slot] as number;
      this.#products[slot] = this.#commons[slot] = this.#seen[slot] = 0;
      let embedding: number | null = null;
      if (vector && item.vector?.length === vector.length) {
        const lengths = mySquares * (this.#vectorSquares[slot] as number);
        if (lengths > 0) embedding = product(vector, item.vector) / Math.sqrt(lengths);
      }
      // Measuring is the costly part, and most items share no more than a common word: they are out before it.
      if (!best.mayTake(combine(highestText(inCommon, mine.norm, settings), common > 0 ? 1 : 0, embedding, settings))) continue;
      this.#measure(slot, settings);
      const { text } = textOf(inCommon, mine.norm, this.#norms[slot] as number, settings);
      const score = combine(text, filesOf(common, mine.keySum, this.#keySums[slot] as number), embedding, settings);
      if (score > 0 && best.takes(score, item.id) && (!accept || accept(item.id))) best.add(slot, score, item.id);
    }
    return best.slots
      .map((slot) => scoreWeighed(query, mine, this.#items[slot] as Indexed, this, settings))
      .sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1))
      .slice(0, limit);
  }

  /** Sums up, over the lists of the query's keys only, what each item has in common with it. */
  #accumulate(terms: ReadonlyMap<string, number>, keys: ReadonlyMap<string, number>, settings: OverlapSettings): number[] {
    const rare = rarity(this.size, settings.background);
    const touched: number[] = [];
    for (const [term, weight] of terms) {
      const list = this.#terms.get(term);
      if (!list) continue;
      const inverse = Math.max(0, rare - (this.#terms.commonness[list.id] as number));
      for (let at = 0; at < list.slots.length; at++) {
        const slot = list.slots[at] as number;
        const full = list.full[at] as number;
        const reduced = list.reduced[at] as number;
        const value = full !== reduced && this.#isReduced(slot, settings) ? reduced : full;
        this.#products[slot] = (this.#products[slot] as number) + weight * (value * inverse);
        if (this.#seen[slot] === 0) touched.push(slot);
        this.#seen[slot] = 1;
      }
    }
    for (const [key, weight] of keys) {
      for (const slot of this.#files.get(key)?.slots ?? []) {
        this.#commons[slot] = (this.#commons[slot] as number) + weight;
        if (this.#seen[slot] === 0) touched.push(slot);
        this.#seen[slot] = 1;
      }
    }
    return touched;
  }

  #measure(slot: number, settings: OverlapSettings): void {
    if (this.#measured[slot] === this.#version) return;
    const rare = rarity(this.size, settings.background);
    const terms = this.#terms.of(slot);
    const values = this.#isReduced(slot, settings) ? terms.reduced : terms.full;
    const { commonness } = this.#terms;
    let sum = 0;
    for (let at = 0; at < values.length; at++) {
      const weight = (values[at] as number) * Math.max(0, rare - (commonness[terms.ids[at] as number] as number));
      sum += weight * weight;
    }
    this.#norms[slot] = Math.sqrt(sum);
    const files = this.#files.of(slot);
    const fileCommonness = this.#files.commonness;
    let keySum = 0;
    for (let at = 0; at < files.ids.length; at++) {
      const weight = this.#kindWeights[files.full[at] as number] as number;
      if (weight > 0) keySum += weight * Math.max(0, rare - (fileCommonness[files.ids[at] as number] as number));
    }
    this.#keySums[slot] = keySum;
    this.#measured[slot] = this.#version;
  }

  #use(settings: OverlapSettings): void {
    this.#settings = settings;
    this.#kindWeights = KINDS.map((kind) => keyWeight(kind, settings));
    this.#terms.setBackground(settings.background);
    this.#files.setBackground(settings.background);
    this.#version++;
  }

  #isReduced(slot: number, settings: OverlapSettings): boolean {
    return isBatch(this.#items[slot]?.analysed.prefix ?? null, this, settings);
  }

  #grow(slot: number): void {
    if (slot < this.#norms.length) return;
    this.#norms = extended(this.#norms, 0);
    this.#keySums = extended(this.#keySums, 0);
    this.#measured = extended(this.#measured, -1);
    this.#products = extended(this.#products, 0);
    this.#commons = extended(this.#commons, 0);
    this.#seen = extended(this.#seen, 0);
  }
}
