import type { DependencyOutcome, PriorTask, RecoveredCheckpoint, SiblingTask } from './contract.ts';
import { brief, cutJson, cutText, LEAST, MARK, shorten } from './cut.ts';
import type { Tokenizer } from './tokens.ts';

/** What the answer says of something that is not all there. */
export interface Omission {
  readonly section: string;
  /** Of entries; of a text or an object in characters. */
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

/** `empty` is what stands in the answer when there is room for nothing of it. */
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
  /** What a bare entry lacks. */
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

/** How long the summary of an outcome is. */
const OUTCOME_CHARACTERS = 400;
const BRIEF_CHARACTERS = 160;

/** Sizes of what stands in a list: as JSON, with its comma. Counted no further than could ever fit. */
export interface Scale {
  readonly tokens: Tokenizer;
  readonly max: number;
}

const sizer =
  ({ tokens, max }: Scale) =>
  (value: unknown): number =>
    tokens.count(`${JSON.stringify(value)},`, max);

/** Newer ones are wanted with all their detail; of older ones it is enough to know that they are there. */
export function checkpointEntry(scale: Scale, whole: RecoveredCheckpoint): ContextEntry<RecoveredCheckpoint> {
  const size = sizer(scale);
  const isBare = whole.detail === null && whole.files_changed.length === 0;
  const bare = isBare ? whole : { ...whole, detail: null, files_changed: [] };
  return entryOf(size, whole, bare, (room, bareSize) => {
    if (room >= bareSize) return undefined;
    const summary = cutText(whole.summary, room - size({ ...bare, summary: '' }), scale.tokens);
    return summary === '' ? undefined : { ...bare, summary };
  });
}

export function bareCheckpointEntry(scale: Scale, bare: RecoveredCheckpoint, isWhole: boolean): ContextEntry<RecoveredCheckpoint> {
  const entry = entryOf(sizer(scale), bare, bare);
  return isWhole ? entry : unread(entry);
}

/** An entry of which no more was read, because there cannot be room for it: whatever is given of it is not the whole. */
const unread = <T extends object>({ bare, bareSize, cut }: ContextEntry<T>): ContextEntry<T> => ({
  whole: { ...bare },
  wholeSize: Number.POSITIVE_INFINITY,
  bare,
  bareSize,
  cut,
});

/** A text that is no longer than this is not worth a mark in its place. */
const FEW_CHARACTERS = 12;

/** An entry of which one text can be cut. `more` is the whole where that is more than the text. */
function textEntry<T>(scale: Scale, text: string, withText: (text: string) => T, more?: T): ContextEntry<T> {
  const size = sizer(scale);
  const whole = more ?? withText(text);
  const bare = text.length <= FEW_CHARACTERS ? withText(text) : withText(MARK);
  return entryOf(size, whole, JSON.stringify(bare) === JSON.stringify(whole) ? whole : bare, (room, bareSize) => {
    const cut = room > bareSize ? cutText(text, room - size(withText('')), scale.tokens) : '';
    return cut === '' || (cut === text && more === undefined) ? undefined : withText(cut);
  });
}

type PriorFull = Required<PriorTask>;

/** `unread`: asked for in full, but no more of it was read than its summary takes. */
export function priorEntry(scale: Scale, { id, name, outcome, status, ...more }: PriorFull, extent: 'summary' | 'full' | 'unread'): ContextEntry<PriorTask> {
  const withText = (text: string): PriorTask => ({ id, name, outcome: text, status });
  const summary = brief(outcome, OUTCOME_CHARACTERS);
  if (extent === 'unread') return unread(textEntry(scale, summary, withText, withText(outcome)));
  return textEntry(scale, summary, withText, extent === 'full' ? { ...withText(outcome), ...more } : undefined);
}

export const siblingEntry = (scale: Scale, { brief_summary = '', ...task }: SiblingTask): ContextEntry<SiblingTask> =>
  entryOf(sizer(scale), brief_summary === '' ? task : { ...task, brief_summary: brief(brief_summary, BRIEF_CHARACTERS) }, task);

export function dependencyEntry(scale: Scale, { task_id, task_name, outcome, status }: DependencyOutcome, briefly = false): ContextEntry<DependencyOutcome> {
  const withText = (text: string): DependencyOutcome => ({ task_id, task_name, outcome: text, status });
  return briefly ? unread(textEntry(scale, outcome, withText, withText(outcome))) : textEntry(scale, outcome, withText);
}
