import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import type { CallerPlace } from '../../kernel/call.ts';
import { withoutCredentials } from '../../kernel/repo.ts';
import { LONGEST_PATH, type Written } from '../../wire/hook-question.ts';
import { LONGEST_HEADER, PLACE_HEADER, REPOSITORY_HEADER } from '../../wire/http-client.ts';
import { orNothing } from '../../wire/or-nothing.ts';

/** Where somebody works. Read from git's own files: no program has to be started for it, and none has to be there. */
export interface GitPlace {
  readonly folder: string;
  /** The top of the working tree, which may be a linked one. */
  readonly root: string;
  /** The repository's main checkout. */
  readonly checkout: string;
  /** The remote's address without credentials, or the name of the checkout's folder. */
  readonly repo: string;
  /** Undefined where no branch is checked out. */
  readonly branch: string | undefined;
}

/** Undefined outside of any repository. */
export function placeOf(folder: string): GitPlace | undefined {
  const whole = resolve(folder);
  if (whole.length > LONGEST_PATH) return undefined;
  for (let root = nearest(whole); ; root = dirname(root)) {
    const git = gitFolderOf(root);
    if (git) {
      const shared = sharedFolder(git);
      const checkout = basename(shared) === '.git' ? dirname(shared) : root;
      return { folder: whole, root, checkout, repo: remoteOf(shared) ?? basename(checkout), branch: branchOf(git) };
    }
    if (root === dirname(root)) return undefined;
  }
}

/** The repository around a folder, or the folder itself where there is none. From inside a worktree: the repository that it is of. */
export const repositoryAround = (folder: string): string => placeOf(folder)?.checkout ?? resolve(folder);

/** Git keeps it in `<outer repository>/.git/modules/<name>`. */
export const isSubmodule = ({ root }: GitPlace): boolean => /[\\/]\.git[\\/](?:.+[\\/])?modules[\\/]/.test(gitFolderOf(root) ?? '');

/** The path itself, or the deepest folder on the way to it that there is. From the top down: beneath one that is missing there is nothing to look for. */
export function nearest(path: string): string {
  const whole = resolve(path);
  let found = parse(whole).root;
  while (found !== whole) {
    const end = whole.indexOf(sep, found.length + 1);
    const next = end < 0 ? whole : whole.slice(0, end);
    if (!existsSync(next)) break;
    found = next;
  }
  return found;
}

/** Of a file that does not exist yet, by its nearest folder that does; also in the letters that the file system has for it, where those are not told apart by case. */
export function real(path: string): string {
  const whole = resolve(path);
  const existing = nearest(whole);
  return join(orNothing(() => realpathSync.native(existing)) ?? existing, whole.slice(existing.length));
}

function isUnder(path: string, folder: string): boolean {
  const way = relative(real(folder), real(path));
  return way === '' || (way !== '..' && !/^\.\.[\\/]/.test(way) && !isAbsolute(way));
}

/** Whether the server may touch what is at this path. `folders`: where repositories may be; undefined: anywhere. */
export const isAllowed = (path: string, folders: readonly string[] | undefined): boolean => !folders || folders.some((folder) => isUnder(path, folder));

/** It holds one path. Repositories are not to be trusted with our memory. */
const LARGEST_MARK = 16 * 1024;
const LARGEST_CONFIG = 1024 * 1024;

/** `.git`, or where the mark of a linked worktree or submodule says that it is. */
function gitFolderOf(root: string): string | undefined {
  const mark = join(root, '.git');
  const kind = orNothing(() => statSync(mark));
  if (kind?.isDirectory()) return mark;
  if (!kind?.isFile()) return undefined;
  const named = /^gitdir: (.+)$/m.exec(readSmall(mark, LARGEST_MARK) ?? '')?.[1];
  return named ? resolve(root, named) : mark;
}

/**
 * A linked worktree has its own HEAD, and says whose configuration it shares, which may be that of a bare repository; one whose repository
 * is gone is still of that one. A submodule stands for itself.
 */
function sharedFolder(git: string): string {
  const named = readSmall(join(git, 'commondir'), LARGEST_MARK)?.trim();
  if (named) return resolve(git, named);
  return /^(.+[\\/]\.git)[\\/]worktrees[\\/][^\\/]+$/.exec(git)?.[1] ?? git;
}

const branchOf = (git: string): string | undefined => /^ref: refs\/heads\/(.+)$/m.exec(readSmall(join(git, 'HEAD'), LARGEST_MARK) ?? '')?.[1];

/** `origin`, or the only remote there is. */
function remoteOf(shared: string): string | undefined {
  const remotes = new Map<string, string>();
  let section: string | undefined;
  for (const line of (readSmall(join(shared, 'config'), LARGEST_CONFIG) ?? '').split('\n')) {
    const head = /^\s*\[\s*(\w+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (head) section = head[1]?.toLowerCase() === 'remote' ? head[2] : undefined;
    const url = section !== undefined ? /^\s*url\s*=\s*(.+?)\s*$/i.exec(line)?.[1] : undefined;
    if (section !== undefined && url && !remotes.has(section)) remotes.set(section, url.replace(/^"(.*)"$/, '$1'));
  }
  const url = remotes.get('origin') ?? (remotes.size === 1 ? [...remotes.values()][0] : undefined);
  // A remote that is another folder of this machine says less than the folder's name.
  return url && !/^(?:[./~]|[A-Za-z]:[\\/]|file:)/.test(url) ? withoutCredentials(url).slice(0, 300) : undefined;
}

function readSmall(path: string, most: number): string | undefined {
  return orNothing(() => {
    const found = statSync(path);
    // A pipe would keep us waiting, and a device has no end.
    return found.isFile() && found.size <= most ? readFileSync(path, 'utf8') : undefined;
  });
}

/** A file as claims may name it. */
export interface PlacedRepository {
  readonly repo: string;
  /** From the top of the working tree; of that itself, nothing. */
  readonly path: string;
  readonly tree?: boolean;
}

/**
 * The files as claims may name them; those outside of any repository are left out. What is written through a symbolic link has two names, and
 * what is in a submodule is the outer repository's too: whoever has claimed it by either has it. Of a whole working tree only that which
 * somebody stands in is meant: another is a copy, such as a scratch worktree, with which nothing claimed is gone.
 */
export function locate(written: readonly Written[], folder: string): PlacedRepository[] {
  if (folder.length > LONGEST_PATH) return [];
  const places = new Map<string, readonly GitPlace[]>();
  const own = placesAround(folder).map((place) => ({ place, tops: [place.root, real(place.root)] }));
  const found = new Map<string, PlacedRepository>();
  const note = ({ repo, root }: GitPlace, file: string, tree: boolean) => {
    const path = relative(root, file).split(sep).join('/');
    if (path || (tree && own.some(({ tops }) => tops.includes(root))))
      found.set(JSON.stringify([repo, path, tree]), tree ? { repo, path, tree } : { repo, path });
  };
  for (const each of written) {
    const named = nameOf(each, folder);
    if (named === undefined || named.length > LONGEST_PATH) continue;
    const isLink = each.removed === true && !each.path.endsWith('/') && isSymbolicLink(named);
    const tree = each.tree === true && !isLink && isFolder(named);
    for (const file of [isLink ? join(real(dirname(named)), basename(named)) : real(named), named]) {
      const around = nearest(tree ? file : dirname(file));
      if (!places.has(around)) places.set(around, placesAround(around));
      for (const place of places.get(around) ?? []) note(place, file, tree);
      if (!tree) continue;
      const within = file.endsWith(sep) ? file : file + sep;
      for (const { place, tops } of own) if (tops.some((top) => top.startsWith(within))) note(place, place.root, tree);
    }
  }
  return [...found.values()];
}

/** Undefined where there is no working tree to have a top. */
function nameOf({ path, fromTop }: Written, folder: string): string | undefined {
  const named = resolve(folder, path);
  if (fromTop === undefined) return named;
  const top = placeOf(named)?.root;
  return top === undefined ? undefined : join(top, fromTop);
}

const isFolder = (path: string): boolean => orNothing(() => statSync(path).isDirectory()) ?? false;
const isSymbolicLink = (path: string): boolean => orNothing(() => lstatSync(path).isSymbolicLink()) ?? false;

/** The repository around a folder, and where that is a submodule those around it. */
function placesAround(folder: string): readonly GitPlace[] {
  const places: GitPlace[] = [];
  for (let place = placeOf(folder); place; place = isSubmodule(place) ? placeOf(dirname(place.root)) : undefined) places.push(place);
  return places;
}

/** Looked up at each call: the branch changes while a bridge runs. */
export function placeHeaders(folder: string): Record<string, string> {
  const place = reportedPlace(folder);
  const named = asHeader(JSON.stringify(place.place));
  return { [REPOSITORY_HEADER]: asHeader(place.repository), ...(named.length <= LONGEST_HEADER && { [PLACE_HEADER]: named }) };
}

/** What a caller's client says of where it stands. Nothing is let in because of it: it stands in where a call leaves names out. */
export interface Reported {
  readonly repository: string;
  readonly place: CallerPlace;
}

export function reportedPlace(folder: string): Reported {
  const found = placeOf(folder);
  return { repository: found?.checkout ?? folder, place: { folder, repo: found?.repo ?? null, branch: found?.branch ?? null } };
}

/** A header holds no letters beyond ASCII as they are. */
export const asHeader = (text: string): string => encodeURIComponent(text);
