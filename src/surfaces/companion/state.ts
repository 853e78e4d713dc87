import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENT_NAMES, type ClientName } from '../../clients/client.ts';
import { type GitPlace, placeOf } from '../../machine/git/place.ts';
import { covibeHome, readJson, replaceFile } from '../../wire/covibe-home.ts';

/** The files in the companion's home. Each file contains one kind of data. */

interface StoredList<T> {
  read(env: NodeJS.ProcessEnv): T[];
  write(env: NodeJS.ProcessEnv, items: readonly T[]): void;
}

type Shape<T> = { readonly [K in keyof T]: (value: unknown) => boolean };
export const isText = (value: unknown): boolean => typeof value === 'string';

/** Defines a list that is stored in `file` as `{"<name>": […]}`. Reading skips items of another shape, because another version may have written them. */
export function storedList<T extends object>(file: string, name: string, shape: Shape<T>): StoredList<T> {
  const pathOf = (env: NodeJS.ProcessEnv) => join(covibeHome(env), file);
  const fits = (item: unknown): item is T =>
    Object.entries<Shape<T>[keyof T]>(shape).every(([field, isRight]) => isRight((item as Record<string, unknown> | null)?.[field]));
  return {
    read(env) {
      const items = ((readJson(pathOf(env)) ?? {}) as Record<string, unknown>)[name];
      return Array.isArray(items) ? items.filter(fits) : [];
    },
    write: (env, items) => replaceFile(pathOf(env), `${JSON.stringify({ [name]: items }, null, 2)}\n`),
  };
}

/** A working tree whose agents were set up, and the server that they use. */
export interface SetUp {
  readonly root: string;
  readonly origin: string;
  readonly hooks: 'http' | 'command';
  readonly clients: readonly ClientName[];
}

const isClient = (client: unknown) => CLIENT_NAMES.some((known) => known === client);
const SETUPS = storedList<SetUp>('setups.json', 'setups', {
  root: isText,
  origin: isText,
  hooks: (hooks) => hooks === 'http' || hooks === 'command',
  clients: (clients) => Array.isArray(clients) && clients.every(isClient),
});

export const setups = (env: NodeJS.ProcessEnv): SetUp[] => SETUPS.read(env);

export const setUpAt = (env: NodeJS.ProcessEnv, root: string): SetUp | undefined => setups(env).find((each) => each.root === root);

/** Returns the setup of the working tree that contains the folder. For a worktree without its own setup, returns the setup of the main checkout. */
export function setUpAround(env: NodeJS.ProcessEnv, folder: string): SetUp | undefined {
  const place = placeOf(folder);
  return place && (setUpAt(env, place.root) ?? setUpAt(env, place.checkout));
}

/** Stores a setup, or deletes it if `made` is undefined. Does not write the file if nothing changes. */
export function noteSetup(env: NodeJS.ProcessEnv, root: string, made: Omit<SetUp, 'root'> | undefined): void {
  const known = setups(env);
  const next = [...known.filter((each) => each.root !== root), ...(made ? [{ root, ...made }] : [])].toSorted((a, b) => a.root.localeCompare(b.root));
  if (JSON.stringify(next) !== JSON.stringify(known)) SETUPS.write(env, next);
}

/** A repository that an agent on this machine has worked in. The watcher reports it. */
interface KnownRepo {
  readonly path: string;
  readonly repo: string;
  readonly last_active_at: number;
}

const REPOS = storedList<KnownRepo>('repos.json', 'repos', { path: isText, repo: isText, last_active_at: (at) => typeof at === 'number' });

/** The maximum number of stored repositories. The server accepts no more than this. */
const MAX_ITEMS = 200;
/** The minimum time between two updates of the same repository. Without it, every hook would rewrite the file. */
const FRESH_MS = 10 * 60_000;

/** Returns the known repositories, the most recently used first. */
const knownRepos = (env: NodeJS.ProcessEnv): KnownRepo[] => REPOS.read(env).sort((a, b) => b.last_active_at - a.last_active_at);

export const presentRepos = (env: NodeJS.ProcessEnv): KnownRepo[] => knownRepos(env).filter(({ path }) => existsSync(path));

export function noteRepo(env: NodeJS.ProcessEnv, place: Pick<GitPlace, 'checkout' | 'repo'>, now: number): void {
  const known = knownRepos(env);
  const before = known.find(({ path }) => path === place.checkout);
  if (before && before.repo === place.repo && now - before.last_active_at < FRESH_MS) return;
  const others = known.filter(({ path }) => path !== place.checkout);
  REPOS.write(env, [{ path: place.checkout, repo: place.repo, last_active_at: now }, ...others].slice(0, MAX_ITEMS));
}

/** The status that the watcher stores for `covibe-local doctor`. */
export interface WatchStatus {
  /** Null after the watcher has ended normally. */
  readonly pid: number | null;
  readonly version: string;
  readonly origin: string;
  /** The last time at which all waiting usage was delivered. Null if that never happened. */
  readonly last_sync_at: number | null;
  readonly sent: number;
  readonly waiting: number;
  readonly problem: string | null;
}

const watchPath = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'watch.json');

export const writeWatchStatus = (env: NodeJS.ProcessEnv, status: WatchStatus): void => replaceFile(watchPath(env), `${JSON.stringify(status, null, 2)}\n`);

/** Returns the stored status of the watcher, or an empty object if no watcher has run. */
export const readWatchStatus = (env: NodeJS.ProcessEnv): Partial<WatchStatus> => (readJson(watchPath(env)) ?? {}) as Partial<WatchStatus>;
