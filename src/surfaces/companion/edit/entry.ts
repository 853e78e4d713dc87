import type { ConfigEntry } from '../../../clients/client.ts';

/**
 * What setup writes into the entry of a server, now or in earlier versions, and other ways to reach one, which would win over it. All else in
 * there is the person's, or what the client has learned.
 */
const STDIO_KEYS = ['type', 'command', 'args', 'cwd', 'env', 'env_vars', 'environment'];
const HTTP_KEYS = ['url', 'httpUrl', 'headers', 'http_headers', 'env_http_headers', 'bearer_token_env_var'];

export const isOwnKey = (key: string): boolean => STDIO_KEYS.includes(key) || HTTP_KEYS.includes(key);

export const ownOf = (found: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(found).filter(([key]) => isOwnKey(key)));

/** An entry that setup has written, and what it takes to undo it. */
export interface WrittenEntry {
  readonly entry: ConfigEntry;
  /** The value that was there before. */
  readonly was?: unknown;
  /** How much of its path was not there before: so many steps remain when it is gone. */
  readonly madeFrom?: number;
}

export type EntryState = 'good' | 'missing' | 'stale';

/** Edits one kind of entry in a configuration file. */
export interface Editor<E extends ConfigEntry> {
  state(text: string, entry: E, file: string): EntryState;
  put(text: string, entry: E, file: string): { readonly text: string } & Omit<WrittenEntry, 'entry'>;
  /** The text without it; undefined where it is no longer as it was written, and has to stay. */
  take(text: string, written: WrittenEntry & { readonly entry: E }, file: string): string | undefined;
}
