import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../kernel/relay.ts';

/** One place where two definitions differ. Null: it is not there. */
export interface Change {
  /** `description`, or a place in a schema: `inputSchema.properties.path.type`. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface Difference {
  readonly changes: readonly Change[];
  /** How many more there are than are shown. */
  readonly more: number;
}

const MAX_CHANGES = 40;
const MAX_TEXT = 1_500;
/** What is shown of the unchanged text on either side of a change. */
const AROUND = 60;

/** What a person reads before they approve. Without `before`: the whole of what is new, field by field. */
export function differenceOf(before: Json | null, after: Json | null): Difference {
  const all: Change[] = [];
  if (before && after) collect('', before, after, all);
  else
    for (const [key, value] of Object.entries(before ?? after ?? {}))
      if (key !== 'name') all.push(change(key, before ? value : undefined, after ? value : undefined));
  return { changes: all.slice(0, MAX_CHANGES), more: Math.max(0, all.length - MAX_CHANGES) };
}

function collect(path: string, before: unknown, after: unknown, into: Change[]): void {
  if (isDeepStrictEqual(before, after)) return;
  if (!isObject(before) || !isObject(after)) {
    into.push(change(path, before, after));
    return;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) collect(path ? `${path}.${key}` : key, before[key], after[key], into);
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function change(path: string, before: unknown, after: unknown): Change {
  const [left, right] = [textOf(before), textOf(after)];
  if (left === null || right === null) return { path, before: left && cut(left), after: right && cut(right) };
  return { path, ...around(left, right) };
}

const textOf = (value: unknown): string | null => (value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value));

/** Of long texts the part that differs: a change must not hide behind what a reader would stop reading at. */
function around(before: string, after: string): { before: string; after: string } {
  if (before.length <= MAX_TEXT && after.length <= MAX_TEXT) return { before, after };
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const from = Math.max(0, start - AROUND);
  const part = (text: string) => {
    const to = Math.min(text.length, text.length - end + AROUND);
    return `${from > 0 ? '…' : ''}${cut(text.slice(from, to))}${to < text.length ? '…' : ''}`;
  };
  return { before: part(before), after: part(after) };
}

/** Says how much is missing: a long text that ends without a word would pass for the whole. */
const cut = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).toWellFormed()}… (${text.length - MAX_TEXT} more characters)`;
