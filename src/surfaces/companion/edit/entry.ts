/** What setup wants to stand in a file. Data: it is written down, so that it can be found and taken out again. */
export type Entry = MemberEntry | ItemEntry | TableEntry | WholeEntry;

interface Named {
  /** As people call it: `server entry`, `SessionStart hook`. */
  readonly what: string;
}

/**
 * What setup writes into the entry of a server, now or in earlier versions, and other ways to reach one, which would win over it. All else in
 * there is the person's, or what the client has learned.
 */
const STDIO_KEYS = ['type', 'command', 'args', 'cwd', 'env', 'env_vars', 'environment'];
const HTTP_KEYS = ['url', 'httpUrl', 'headers', 'http_headers', 'env_http_headers', 'bearer_token_env_var'];

export const isOwnKey = (key: string): boolean => STDIO_KEYS.includes(key) || HTTP_KEYS.includes(key);

export const ownOf = (found: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(found).filter(([key]) => isOwnKey(key)));

/** A member of an object in JSON. Of one that is an object itself its own keys are meant: others may stand beside them. */
export interface MemberEntry extends Named {
  readonly kind: 'member';
  readonly at: readonly string[];
  readonly value: unknown;
  /** Only where there is none; it stays when the rest is taken out, for what others have added. */
  readonly isDefault?: true;
}

/** An element of a list in JSON: a hook, or a group of hooks. What it says is set in it; more may stand beside that. */
export interface ItemEntry extends Named {
  readonly kind: 'item';
  readonly list: readonly string[];
  readonly value: unknown;
  /** A pattern: commands and addresses that fit it are ours, of whichever version. */
  readonly ours: string;
}

/** A table in TOML, one key a line. */
export interface TableEntry extends Named {
  readonly kind: 'table';
  readonly at: readonly [string, string];
  readonly value: Readonly<Record<string, unknown>>;
}

/** A file that is ours alone. */
export interface WholeEntry extends Named {
  readonly kind: 'whole';
  readonly text: string;
  /** Only where there is none. */
  readonly isDefault?: true;
}

/** An entry that setup has written, and what it takes to undo it. */
export interface WrittenEntry {
  readonly entry: Entry;
  /** What stood in its place. */
  readonly was?: unknown;
  /** How much of its path was not there before: so many steps remain when it is gone. */
  readonly madeFrom?: number;
}

export type EntryState = 'good' | 'missing' | 'stale';

/** What is to stand in one kind of place, and how that is done. */
export interface Editor<E extends Entry> {
  state(text: string, entry: E, file: string): EntryState;
  put(text: string, entry: E, file: string): { readonly text: string } & Omit<WrittenEntry, 'entry'>;
  /** The text without it; undefined where it is no longer as it was written, and has to stay. */
  take(text: string, written: WrittenEntry & { readonly entry: E }, file: string): string | undefined;
}
