import type { ConfigEntry } from '../../../clients/client.ts';
import { sha256 } from '../hash.ts';
import type { FileRecord } from '../setup-record.ts';
import { put, stateOf, takeAll } from './edit.ts';
import type { WrittenEntry } from './entry.ts';
import { jsonIn, removeJson } from './json-text.ts';

/** Returns undefined if the value contains a token. If someone wrote a token into a file, the token must not be copied to another file. */
const withoutTokens = <T>(value: T): T | undefined => (/\bcv_[\w-]{16}/.test(JSON.stringify(value) ?? '') ? undefined : value);

interface PlannedEdit {
  /** The new content of the file. Undefined if nothing is left of a file that did not exist before setup. */
  readonly text: string | undefined;
  /** The record to store. Undefined if setup has written nothing to this file. */
  readonly record: FileRecord | undefined;
  readonly setBack: readonly string[];
}

/** Plans the new content of a file. Adds all wanted entries, and removes entries of an earlier setup that are no longer wanted. */
export function withEntries(
  path: string,
  shown: string,
  current: string | undefined,
  wanted: readonly ConfigEntry[],
  known: FileRecord | undefined,
): PlannedEdit {
  const outdated = known?.entries.filter(({ entry }) => !wanted.some((each) => isSamePlace(each, entry))) ?? [];
  const start = outdated.length > 0 ? takeAll(current ?? '', outdated, shown).text : (current ?? '');
  const entries: WrittenEntry[] = [];
  const setBack: string[] = [];
  const text = wanted.reduce((so, entry) => {
    const { text: after, written } = put(so, entry, shown);
    const earlier = known?.entries.find((each) => isSamePlace(each.entry, entry));
    if (written && earlier && stateOf(so, earlier.entry, shown) === 'stale') setBack.push(entry.what);
    // Keeps the value from before the first setup, because removal has to restore that value and not the value from before the latest setup.
    if (written) entries.push({ ...written, ...(earlier ? { was: earlier.was, madeFrom: earlier.madeFrom } : { was: withoutTokens(written.was) }) });
    else if (earlier) entries.push(earlier);
    return after;
  }, start);
  if (text === current) return { text, record: known, setBack };
  return { text, record: { path, ...beforeOf(current, known, shown), after: sha256(text), entries }, setBack };
}

/** Returns the content that removal restores: the file as it was before the first setup, with the changes that people have made since then. */
function beforeOf(current: string | undefined, known: FileRecord | undefined, shown: string): Pick<FileRecord, 'before'> {
  if (!known) return { before: current === undefined ? null : withoutTokens(current) };
  if (current === undefined) return { before: null };
  if (sha256(current) === known.after) return { before: known.before };
  const { text, stays } = takeAll(current, known.entries, shown);
  // Setup wrote the whole file, and someone changed it. These changes cannot be separated from the text that setup wrote.
  if (stays.length > 0 && known.entries.some(({ entry }) => entry.kind === 'whole')) return { before: known.before };
  // Someone changed entries that setup had written, so the content from before setup is unknown. Removal then removes the entries one by one.
  if (stays.length > 0) return {};
  return { before: known.before === null && isEmptied(text, known, shown) ? null : withoutTokens(text) };
}

/**
 * Undoes what setup wrote to a file. If nobody has changed the file since, its previous
 * content is restored byte for byte. Otherwise the entries are removed one by one.
 */
export function withoutEntries(
  shown: string,
  current: string,
  known: FileRecord,
): { readonly text: string | undefined; readonly isExact: boolean; readonly stays: readonly string[] } {
  if (sha256(current) === known.after && known.before !== undefined) return { text: known.before ?? undefined, isExact: true, stays: [] };
  const { text, stays } = takeAll(current, known.entries, shown);
  return { text: known.before === null && isEmptied(text, known, shown) ? undefined : text, isExact: false, stays };
}

/** Returns whether the file is empty, or contains only the default values that setup wrote. */
function isEmptied(text: string, { entries }: FileRecord, shown: string): boolean {
  if (text.trim() === '') return true;
  if (entries.some(({ entry }) => entry.kind === 'table' || entry.kind === 'whole')) return false;
  const defaults = entries.flatMap(({ entry }) => (entry.kind === 'member' && entry.isDefault ? [entry.at] : []));
  const rest = jsonIn(
    defaults.reduce((so, at) => removeJson(so, at, shown), text),
    shown,
  );
  return typeof rest === 'object' && rest !== null && Object.keys(rest).length === 0 && !/\/[/*]/.test(text);
}

function isSamePlace(a: ConfigEntry, b: ConfigEntry): boolean {
  const placeOf = (entry: ConfigEntry) => [entry.kind, 'at' in entry ? entry.at : 'list' in entry ? entry.list : ''];
  return JSON.stringify(placeOf(a)) === JSON.stringify(placeOf(b));
}
