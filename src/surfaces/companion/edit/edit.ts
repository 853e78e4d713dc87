import type { ConfigEntry } from '../../../clients/client.ts';
import type { Editor, EntryState, WrittenEntry } from './entry.ts';
import { item, member } from './json.ts';
import { table } from './table.ts';
import { whole } from './whole.ts';

const EDITORS: { readonly [K in ConfigEntry['kind']]: Editor<Extract<ConfigEntry, { kind: K }>> } = { member, item, table, whole };

const editorOf = (entry: ConfigEntry) => EDITORS[entry.kind] as Editor<ConfigEntry>;

export const stateOf = (text: string, entry: ConfigEntry, file: string): EntryState => editorOf(entry).state(text, entry, file);

/** Adds the entry to the text. If the text already contains the entry, nothing is changed or recorded. */
export function put(text: string, entry: ConfigEntry, file: string): { readonly text: string; readonly written?: WrittenEntry } {
  if (stateOf(text, entry, file) === 'good') return { text };
  const { text: after, ...undo } = editorOf(entry).put(text, entry, file);
  return { text: after, written: { entry, ...undo } };
}

/**
 * Removes the entries from the text, starting with the last one. Entries that someone
 * changed by hand stay in the text, and `stays` contains a message for each of them.
 */
export function takeAll(text: string, written: readonly WrittenEntry[], file: string): { readonly text: string; readonly stays: readonly string[] } {
  const stays: string[] = [];
  const without = written.toReversed().reduce((so, each) => {
    const after = editorOf(each.entry).take(so, each, file);
    if (after === undefined) stays.push(`the ${each.entry.what} was changed by hand`);
    return after ?? so;
  }, text);
  return { text: without, stays };
}
