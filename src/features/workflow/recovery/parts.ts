import { cutJson, LEAST, shorten } from './cut.ts';
import type { Tokenizer } from './tokens.ts';

/** A note in the answer about entries or text that were cut. */
export interface Omission {
  readonly section: string;
  /** The number of entries that were cut. For a text or an object, the number of characters. */
  readonly count: number;
  readonly reason: string;
}

const SHORTENED = 'shortened to fit max_tokens';
const LEFT_OUT = 'left out to fit max_tokens';

/** A part of the answer. If there is not enough room for the whole part, it is shortened. */
export interface ContextPart<T = unknown> {
  /** The room that the whole part needs. Measured on first use. */
  readonly wants: number;
  fill(room: number): { readonly value: T; readonly omitted: readonly Omission[] };
}

const lengthOf = (value: unknown): number => JSON.stringify(value).length;

function measuredOnce<T>(measure: () => number, fill: (room: number, wants: number) => ReturnType<ContextPart<T>['fill']>): ContextPart<T> {
  let measured: number | undefined;
  const wants = () => (measured ??= measure());
  return {
    get wants() {
      return wants();
    },
    fill: (room) => fill(room, wants()),
  };
}

export function textPart(section: string, text: string, tokens: Tokenizer, most: number): ContextPart<string> {
  return measuredOnce(
    () => (text === '' ? 0 : tokens.count(JSON.stringify(text), most)),
    (room, wants) => {
      if (room >= wants) return { value: text, omitted: [] };
      const value = shorten(text, room, tokens);
      if (value === text) return { value, omitted: [] };
      return { value, omitted: [{ section, count: Math.max(1, text.length - value.length), reason: value === '' ? LEFT_OUT : SHORTENED }] };
    },
  );
}

/** `empty` is the value that is returned if there is no room for any part of `whole`. */
export function jsonPart<T extends object | null>(section: string, whole: T, empty: T, tokens: Tokenizer, most: number): ContextPart<T> {
  const isEmpty = lengthOf(whole) === lengthOf(empty);
  return measuredOnce(
    () => (isEmpty ? 0 : tokens.count(JSON.stringify(whole), most)),
    (room, wants) => {
      if (room >= wants) return { value: whole, omitted: [] };
      const value = (cutJson(whole, room, tokens) ?? empty) as T;
      if (lengthOf(value) === lengthOf(whole)) return { value: whole, omitted: [] };
      const nothing = lengthOf(value) <= lengthOf({});
      return { value: nothing ? empty : value, omitted: [{ section, count: lengthOf(whole) - lengthOf(value), reason: nothing ? LEFT_OUT : SHORTENED }] };
    },
  );
}

/**
 * A list entry in two forms. The form `whole` is complete, and the form `bare` leaves out large fields. If the entry has no large fields, both forms
 * are the same.
 */
export interface ContextEntry<T> {
  readonly whole: T;
  readonly wholeSize: number;
  readonly bare: T;
  readonly bareSize: number;
  /** Returns a form of the entry that fits into `room`. Its size is between `bare` and `whole`. If `bare` does not fit, the form is smaller than `bare`. */
  readonly cut?: ((room: number) => { readonly value: T; readonly size: number } | undefined) | undefined;
}

/** Creates an entry. The size of the whole form is measured on demand, because most entries of a long list never need it. */
export function entryOf<T>(size: (value: T) => number, whole: T, bare: T, cut?: (room: number, bareSize: number) => T | undefined): ContextEntry<T> {
  const bareSize = size(bare);
  let wholeSize = whole === bare ? bareSize : undefined;
  return {
    whole,
    get wholeSize() {
      wholeSize ??= size(whole);
      return wholeSize;
    },
    bare,
    bareSize,
    cut:
      cut &&
      ((room) => {
        const value = cut(room, bareSize);
        return value === undefined ? undefined : { value, size: size(value) };
      }),
  };
}

interface ListSpec<T> {
  readonly section: string;
  /** The section name under which omitted details are reported. */
  readonly detail: string;
  /** The entries of the list, most important first. */
  readonly entries: readonly ContextEntry<T>[];
  /** The total number of entries, including those that were not read because they cannot fit. */
  readonly total: number;
  /** This many entries are included in full before any further entry is included. */
  readonly wholeFirst: number;
  /** The maximum room. */
  readonly max: number;
  /** Sorts the chosen entries into the order that the answer uses. */
  readonly arrange?: (values: T[]) => T[];
}

export function listPart<T>({ section, detail, entries, total, wholeFirst, max, arrange = (values) => values }: ListSpec<T>): ContextPart<T[]> {
  return measuredOnce(
    () => (total > entries.length ? Number.POSITIVE_INFINITY : sizeOfAll(entries, max)),
    (room, wants) => {
      let left = room;
      const chosen: T[] = [];
      let bare = 0;
      const choose = (tier: readonly ContextEntry<T>[]): void => {
        const fitting = takeBare(tier, left);
        left -= fitting.reduce((sum, { bareSize }) => sum + bareSize, 0);
        for (const entry of fitting) {
          const more = left + entry.bareSize;
          const isTried = room >= wants || left >= LEAST;
          const isWhole = entry.whole === entry.bare || (isTried && entry.wholeSize <= more);
          const cut = isWhole || !isTried ? undefined : entry.cut?.(more);
          if (isWhole) left = more - entry.wholeSize;
          else if (cut) left = Math.max(0, more - cut.size);
          if (!isWhole) bare++;
          chosen.push(isWhole ? entry.whole : (cut?.value ?? entry.bare));
        }
      };
      choose(entries.slice(0, wholeFirst));
      const least = chosen.length === 0 ? entries[0]?.cut?.(left) : undefined;
      if (least !== undefined) {
        chosen.push(least.value);
        bare++;
      }
      if (chosen.length === wholeFirst) choose(entries.slice(wholeFirst));
      const dropped = total - chosen.length;
      return {
        value: arrange(chosen),
        omitted: [
          ...(dropped > 0 ? [{ section, count: dropped, reason: LEFT_OUT }] : []),
          ...(bare > 0 ? [{ section: detail, count: bare, reason: SHORTENED }] : []),
        ],
      };
    },
  );
}

/** Takes entries from the beginning of the list. It stops at the first entry that does not fit, so that the result has no gaps. */
function takeBare<T>(entries: readonly ContextEntry<T>[], room: number): ContextEntry<T>[] {
  let left = room;
  const end = entries.findIndex(({ bareSize }) => (left -= bareSize) < 0);
  return end < 0 ? [...entries] : entries.slice(0, end);
}

/** Returns the size of all entries in full. If it is more than twice `max`, returns infinity. */
function sizeOfAll<T>(entries: readonly ContextEntry<T>[], max: number): number {
  let sum = 0;
  for (const entry of entries) {
    sum += entry.wholeSize;
    if (sum > 2 * max) return Number.POSITIVE_INFINITY;
  }
  return sum;
}
