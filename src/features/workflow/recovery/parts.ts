import { cutJson, LEAST, shorten } from './cut.ts';
import type { Tokenizer } from './tokens.ts';

/** A note in the answer on entries or text that are not all there. */
export interface Omission {
  readonly section: string;
  /** The number of entries; for a text or an object, of characters. */
  readonly count: number;
  readonly reason: string;
}

const SHORTENED = 'shortened to fit max_tokens';
const LEFT_OUT = 'left out to fit max_tokens';

/** Something of the answer that can be had whole or, with less room, in part. */
export interface ContextPart<T = unknown> {
  /** The room for all of it. Measured when it is first asked for. */
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

/** `empty` is the value if there is no room for any of it. */
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

/** One of a list, whole and bare: with what makes it large left out. Where there is nothing of that, both are the same. */
export interface ContextEntry<T> {
  readonly whole: T;
  readonly wholeSize: number;
  readonly bare: T;
  readonly bareSize: number;
  /** Something between the two, or less than bare where not even that fits; within the room. */
  readonly cut?: ((room: number) => { readonly value: T; readonly size: number } | undefined) | undefined;
}

/** The whole is measured when it is asked for: of most entries of a long list it never is. */
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
  /** The section name of details that bare entries lack. */
  readonly detail: string;
  /** The most important first. */
  readonly entries: readonly ContextEntry<T>[];
  /** How many there are, of which those not among the entries were not read: there can be no room for them. */
  readonly total: number;
  /** So many are given whole before any further one is given at all. */
  readonly wholeFirst: number;
  /** More than this is never to be had. */
  readonly max: number;
  /** As they are to stand in the answer. */
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

/** Without a gap: the first that does not fit ends them. */
function takeBare<T>(entries: readonly ContextEntry<T>[], room: number): ContextEntry<T>[] {
  let left = room;
  const end = entries.findIndex(({ bareSize }) => (left -= bareSize) < 0);
  return end < 0 ? [...entries] : entries.slice(0, end);
}

/** Or some number above `max`. */
function sizeOfAll<T>(entries: readonly ContextEntry<T>[], max: number): number {
  let sum = 0;
  for (const entry of entries) {
    sum += entry.wholeSize;
    if (sum > 2 * max) return Number.POSITIVE_INFINITY;
  }
  return sum;
}
