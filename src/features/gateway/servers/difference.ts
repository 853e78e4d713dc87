import { isDeepStrictEqual } from 'node:util';
import type { Output } from '../../../kernel/contract.ts';
import { isRecord } from '../../../kernel/registry.ts';
import type { Json } from '../../../kernel/relay.ts';
import type { listServers } from './contract.ts';

/**
 * One difference between two definitions. Its path is a field such as `description`, or a place in a schema such as
 * `inputSchema.properties.path.type`. A null text means that this definition does not contain the field.
 */
type Change = Output<typeof listServers>['items'][number]['withheld'][number]['difference'][number];

interface Bounds {
  readonly changes: number;
  readonly text: number;
}
const BRIEF: Bounds = { changes: 40, text: 1_500 };
/** No limits. Used before an approval, because a cut could hide a change. The size of the definitions themselves is limited. */
const WHOLE: Bounds = { changes: Number.POSITIVE_INFINITY, text: Number.POSITIVE_INFINITY };
/** If a changed text is longer than this, only the part that differs is shown. */
const LONG = 1_500;
/** The number of unchanged characters that are shown before and after a change. */
const AROUND = 60;

/** The changes that a person reviews before an approval. If `before` is null, these are all fields of the new definition. */
export function differenceOf(before: Json | null, after: Json | null, isWhole = false): { changes: Change[]; more: number } {
  const bounds = isWhole ? WHOLE : BRIEF;
  const all: Change[] = [];
  if (before && after) collectChanges('', before, after, all);
  else
    for (const [key, value] of Object.entries(before ?? after ?? {}))
      if (key !== 'name') all.push(change(key, before ? value : undefined, after ? value : undefined));
  const changes = all
    .slice(0, bounds.changes)
    .map(({ path, ...texts }) => ({ path, before: shorten(texts.before, bounds), after: shorten(texts.after, bounds) }));
  return { changes, more: all.length - changes.length };
}

function collectChanges(path: string, before: unknown, after: unknown, into: Change[]): void {
  if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      collectChanges(path ? `${path}.${key}` : key, own(before, key), own(after, key), into);
  } else if (!isDeepStrictEqual(before, after)) into.push(change(path, before, after));
}

/** Reads only own properties, because a property of a definition may be called `constructor`. */
const own = (object: Json, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined);

function change(path: string, before: unknown, after: unknown): Change {
  // If the types differ, texts get quotes. Otherwise 5 and "5" would look the same.
  const inQuotes = before !== undefined && after !== undefined && typeof before !== typeof after;
  const [left, right] = [textOf(before, inQuotes), textOf(after, inQuotes)];
  return { path, ...(left === null || right === null ? { before: left, after: right } : differingParts(left, right)) };
}

const textOf = (value: unknown, inQuotes: boolean): string | null =>
  value === undefined ? null : typeof value === 'string' && !inQuotes ? value : JSON.stringify(value);

/** Cuts long texts to the part that differs. Otherwise people might stop reading before they reach the change. */
function differingParts(before: string, after: string): { before: string; after: string } {
  if (before.length <= LONG && after.length <= LONG) return { before, after };
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const from = Math.max(0, start - AROUND);
  const part = (text: string) => {
    const to = Math.min(text.length, text.length - end + AROUND);
    return `${from > 0 ? '…' : ''}${text.slice(from, to).toWellFormed()}${to < text.length ? '…' : ''}`;
  };
  return { before: part(before), after: part(after) };
}

/** Shortens a text and says how many characters are missing, because the text would otherwise look complete. */
const shorten = (text: string | null, { text: most }: Bounds): string | null =>
  text === null || text.length <= most ? text : `${text.slice(0, most).toWellFormed()}… (${text.length - most} more characters)`;
