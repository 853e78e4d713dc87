import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { placeOf } from '../../../machine/git/place.ts';
import { realPathOf } from '../../../machine/paths.ts';
import { CliError } from '../../cli/command.ts';

/** More links one behind the other lead in a circle; reading such a file says so. */
const MAX_LINKS = 40;

/** Where a file really lies: links to it stay links. */
export function resolveLinks(path: string, links = MAX_LINKS): string {
  return links > 0 && isLink(path) ? resolveLinks(resolve(realPathOf(dirname(path)), readlinkSync(path)), links - 1) : path;
}

/** By whichever links it is reached; a file may have become one since its path was written down. */
export const isSameFile = (one: string, other: string): boolean => realPlace(one) === realPlace(other);

const realPlace = (path: string): string => realPathOf(resolveLinks(path));

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    // Not there, or out of reach: reading it says which.
    return false;
  }
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Refuses a file that a link leads out of the repository, because a cloned repository may link anywhere. The main checkout of a worktree is allowed. */
export function requireInside(root: string, path: string, shown: string): void {
  const place = realPlace(path);
  if (![root, placeOf(root)?.checkout ?? root].some((folder) => isInside(realPathOf(folder), place)))
    throw linked(shown, 'leads out of the repository by a link');
}

/** A file that is ours alone is not written over another. */
export function requireNoLink(path: string, shown: string): void {
  if (isLink(path)) throw linked(shown, 'is a link');
}

const linked = (shown: string, what: string): CliError =>
  new CliError('LINKED_FILE', `${shown} ${what}. Nothing was changed.`, 'Move the link away, or put what it leads to in its place; then run this again.');
