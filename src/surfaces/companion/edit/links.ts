import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { placeOf } from '../../../machine/git/place.ts';
import { realPathOf } from '../../../machine/paths.ts';
import { CliError } from '../../cli/command.ts';

/** The limit of links to follow. More links form a loop, and reading such a file fails with an error. */
const MAX_LINKS = 40;

/** The real path of a file, so that a write goes to the file and does not replace the link. */
export function resolveLinks(path: string, links = MAX_LINKS): string {
  return links > 0 && isLink(path) ? resolveLinks(resolve(realPathOf(dirname(path)), readlinkSync(path)), links - 1) : path;
}

/** Whether two paths reach the same file. A file may have become a link since its path was recorded. */
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

/** Refuses a file that is outside the repository because of a link, as a cloned repository may contain any link. Allows the main checkout of a worktree. */
export function requireInside(root: string, path: string, shown: string): void {
  const place = realPlace(path);
  if (![root, placeOf(root)?.checkout ?? root].some((folder) => isInside(realPathOf(folder), place)))
    throw linked(shown, 'is a link that leads out of the repository');
}

/** Refuses a link in place of a file that only setup writes, because the write would overwrite another file. */
export function requireNoLink(path: string, shown: string): void {
  if (isLink(path)) throw linked(shown, 'is a link');
}

const linked = (shown: string, what: string): CliError =>
  new CliError('LINKED_FILE', `${shown} ${what}. Nothing was changed.`, 'Remove the link, or replace it with the file it points to, then run this again.');
