import { commonness } from './weigh.ts';

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

export type Entry = readonly [key: string, full: number, reduced: number];

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

  add(slot: number, entries: readonly Entry[]): void {
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
