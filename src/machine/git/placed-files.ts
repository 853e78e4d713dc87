import { lstatSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { WrittenPath } from '../../wire/hook-question.ts';
import { LONGEST_PATH } from '../../wire/limits.ts';
import { orNothing } from '../../wire/or-nothing.ts';
import { nearestExisting, realPathOf } from '../paths.ts';
import { type GitPlace, isSubmodule, placeOf } from './place.ts';

/** How a claim identifies a file: the repository, and the path in that repository. */
export interface PlacedFile {
  readonly repo: string;
  /** Relative to the top of the working tree. Empty for the top itself. */
  readonly path: string;
  readonly tree?: boolean;
}

/**
 * Converts paths to repositories and paths as used in claims. Files outside a repository are left out. If a path contains a symbolic link or leads into a
 * submodule, the result contains two places, because a claim may be on either of them. A path to a whole working tree counts only if the caller works in that
 * tree. Any other tree, such as a scratch worktree, is a copy, and deleting it affects no claim.
 */
export function placedFiles(written: readonly WrittenPath[], folder: string): PlacedFile[] {
  if (folder.length > LONGEST_PATH) return [];
  const places = new Map<string, readonly GitPlace[]>();
  const own = placesAround(folder).map((place) => ({ place, tops: [place.root, realPathOf(place.root)] }));
  const found = new Map<string, PlacedFile>();
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
    for (const file of [isLink ? join(realPathOf(dirname(named)), basename(named)) : realPathOf(named), named]) {
      const around = nearestExisting(tree ? file : dirname(file));
      if (!places.has(around)) places.set(around, placesAround(around));
      for (const place of places.get(around) ?? []) note(place, file, tree);
      if (!tree) continue;
      const within = file.endsWith(sep) ? file : file + sep;
      for (const { place, tops } of own) if (tops.some((top) => top.startsWith(within))) note(place, place.root, tree);
    }
  }
  return [...found.values()];
}

/** Returns the full path. Undefined if the path must start at the top of a working tree but is not in one. */
function nameOf({ path, fromTop }: WrittenPath, folder: string): string | undefined {
  const named = resolve(folder, path);
  if (fromTop === undefined) return named;
  const top = placeOf(named)?.root;
  return top === undefined ? undefined : join(top, fromTop);
}

const isFolder = (path: string): boolean => orNothing(() => statSync(path).isDirectory()) ?? false;
const isSymbolicLink = (path: string): boolean => orNothing(() => lstatSync(path).isSymbolicLink()) ?? false;

/** Returns the repository that contains the folder. If that is a submodule, also the repositories that contain the submodule. */
function placesAround(folder: string): readonly GitPlace[] {
  const places: GitPlace[] = [];
  for (let place = placeOf(folder); place; place = isSubmodule(place) ? placeOf(dirname(place.root)) : undefined) places.push(place);
  return places;
}
