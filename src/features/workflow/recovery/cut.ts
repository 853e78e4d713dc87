import { shareOut } from './budget.ts';
import type { Tokenizer } from './tokens.ts';

/** Marks the place where a text was cut. */
export const MARK = '… [cut]';
/** Number of tokens for the mark and for the quotation marks around a text. */
const MARK_TOKENS = 6;
/** If there is room for fewer tokens than this, a text is left out, because such a short beginning is useless. */
export const LEAST = 12;
/**
 * Before tokens are counted, a text is shortened to this many characters per available token. Hardly any text has longer tokens, and splitting a long
 * word takes much time.
 */
const LOOKED_AT = 32;
/** A cut may go back by this many characters to end after a whole word. */
const WORD = 40;
/** Lists and objects at this depth in JSON are left out instead of cut if they do not fit. */
const DEEPEST = 3;

export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Shortens a text to at most this many characters. It ends after a sentence if a sentence ends in the second half, and otherwise after a word. */
export function brief(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const head = wellFormed(text.slice(0, characters));
  const sentence = Math.max(...['. ', '! ', '? ', '。', '\n'].map((end) => head.lastIndexOf(end)));
  if (sentence >= characters / 2) return head.slice(0, sentence + 1).trimEnd();
  return `${toWord(head)}…`;
}

/** Returns the longest beginning of a text that takes at most `room` tokens as JSON. If the text was cut, it ends with a mark. */
export function cutText(text: string, room: number, tokens: Tokenizer): string {
  return tokens.count(JSON.stringify(text), room) <= room ? text : shorten(text, room, tokens);
}

/** Like `cutText`, for a text that is known to be too long. */
export function shorten(text: string, room: number, tokens: Tokenizer): string {
  if (room < LEAST) return '';
  const begin = wellFormed(text.slice(0, room * LOOKED_AT));
  const head = tokens.head(JSON.stringify(begin).slice(1, -1), room - MARK_TOKENS);
  return `${toWord(wellFormed(begin.slice(0, charactersIn(begin, head.length))))}${MARK}`;
}

/** Like `cutText`, but for any JSON value. Texts are cut, lists lose items, and each key of an object gets a part of the room. */
export function cutJson(value: unknown, room: number, tokens: Tokenizer, depth = 0): unknown {
  if (typeof value === 'string') return cutText(value, room, tokens) || undefined;
  if (typeof value !== 'object' || value === null || tokens.count(JSON.stringify(value), room) <= room) {
    return tokens.count(JSON.stringify(value), room) <= room ? value : undefined;
  }
  if (depth >= DEEPEST) return undefined;
  return Array.isArray(value) ? cutArray(value, room - 2, tokens, depth) : cutObject(value as Record<string, unknown>, room - 2, tokens, depth);
}

function cutArray(items: readonly unknown[], room: number, tokens: Tokenizer, depth: number): unknown[] {
  const kept: unknown[] = [];
  let left = room;
  for (const item of items) {
    const size = tokens.count(`${JSON.stringify(item)},`, left);
    const fitting = size <= left ? item : cutJson(item, left - 1, tokens, depth + 1);
    if (fitting !== undefined) kept.push(fitting);
    left -= size;
    if (left < LEAST) break;
  }
  return kept;
}

function cutObject(object: Record<string, unknown>, room: number, tokens: Tokenizer, depth: number): Record<string, unknown> {
  const entries = Object.entries(object);
  const names = entries.map(([key]) => tokens.count(`${JSON.stringify(key)}:,`));
  const demands = entries.map(([, value], turn) => ({ wants: (names[turn] as number) + tokens.count(JSON.stringify(value), room), weight: 1, turn }));
  const given = shareOut(room, demands);
  return Object.fromEntries(
    entries.flatMap(([key, value], at) => {
      const fitting = cutJson(value, (given[at] as number) - (names[at] as number), tokens, depth + 1);
      return fitting === undefined ? [] : [[key, fitting]];
    }),
  );
}

/** The first `length` characters of the text's JSON form stand for some characters of the text. Returns the number of these characters. */
function charactersIn(text: string, length: number): number {
  let left = length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isPlain = code >= 0x20 && code !== 0x22 && code !== 0x5c;
    left -= isPlain ? 1 : JSON.stringify(text[at]).length - 2;
    if (left < 0) return at;
  }
  return text.length;
}

/** Removes half of a surrogate pair at the end. */
const wellFormed = (head: string): string => (head.isWellFormed() ? head : head.slice(0, -1));

function toWord(head: string): string {
  const space = /\s\S*$/.exec(head.slice(-WORD))?.index;
  return head.slice(0, space === undefined ? head.length : Math.max(0, head.length - WORD) + space).trimEnd();
}
