import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { placeOf } from '../../../machine/git/place.ts';
import { realPathOf } from '../../../machine/paths.ts';
import { CliError } from '../../cli/command.ts';

/** The maximum number of links to follow. A longer chain of links is a loop, and reading such a file fails with an error. */
const MAX_LINKS = 40;

/** Resolves links to a file, so that a write changes the file itself and does not replace the link. */
export function resolveLinks(path: string, links = MAX_LINKS): string {
  return links > 0 && isLink(path) ? resolveLinks(resolve(realPathOf(dirname(path)), readlinkSync(path)), links - 1) : path;
}

/** Returns whether two paths lead to the same file. Resolves links first, because a file may have become a link since its path was recorded. */
export const isSameFile = (one: string, other: string): boolean => realPlace(one) === realPlace(other);

const realPlace = (path: string): string => realPathOf(resolveLinks(path));

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    // The file is missing or not accessible. Reading it later reports which.
    return false;
  }
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Refuses a path that leads out of the repository through a link, because a cloned repository
 * may contain links to any file. In a worktree, links to the main checkout are allowed.
 */
export function requireInside(root: string, path: string, shown: string): void {
  const place = realPlace(path);
  if (![root, placeOf(root)?.checkout ?? root].some((folder) => isInside(realPathOf(folder), place)))
    throw linked(shown, 'is a link that leads out of the repository');
}

/** Refuses a link where setup writes a whole file, because the write would overwrite the file that the link points to. */
export function requireNoLink(path: string, shown: string): void {
  if (isLink(path)) throw linked(shown, 'is a link');
}

const linked = (shown: string, what: string): CliError =>
  new CliError('LINKED_FILE', `${shown} ${what}. Nothing was changed.`, 'Remove the link, or replace it with the file it points to, then run this again.');
