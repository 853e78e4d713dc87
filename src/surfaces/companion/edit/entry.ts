import type { ConfigEntry } from '../../../clients/client.ts';

/**
 * The keys that this or an earlier version of setup writes into a server entry, and the keys that would override them. All other keys belong to the
 * person or the client.
 */
const STDIO_KEYS = ['type', 'command', 'args', 'cwd', 'env', 'env_vars', 'environment'];
const HTTP_KEYS = ['url', 'httpUrl', 'headers', 'http_headers', 'env_http_headers', 'bearer_token_env_var'];

export const isOwnKey = (key: string): boolean => STDIO_KEYS.includes(key) || HTTP_KEYS.includes(key);

export const ownOf = (found: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(found).filter(([key]) => isOwnKey(key)));

/** An entry that setup has written, with the data that is needed to undo it. */
export interface WrittenEntry {
  readonly entry: ConfigEntry;
  /** The value that the entry replaced. */
  readonly was?: unknown;
  /** The number of steps in the entry's path that existed before setup. These parents stay when the entry is removed. */
  readonly madeFrom?: number;
}

export type EntryState = 'good' | 'missing' | 'stale';

/** Edits one kind of entry in a configuration file. */
export interface Editor<E extends ConfigEntry> {
  state(text: string, entry: E, file: string): EntryState;
  put(text: string, entry: E, file: string): { readonly text: string } & Omit<WrittenEntry, 'entry'>;
  /** Removes the entry from the text. Returns undefined if someone changed the entry since setup wrote it. Such an entry must stay. */
  take(text: string, written: WrittenEntry & { readonly entry: E }, file: string): string | undefined;
}
