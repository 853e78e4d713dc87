import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { placeOf } from '../../../machine/git/place.ts';
import { realPathOf } from '../../../machine/paths.ts';
import { CliError } from '../../cli/command.ts';

/** More links in a row form a loop; reading such a file reports that. */
const MAX_LINKS = 40;

/** The real path of a file. Links to it stay links. */
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
    // Missing or not accessible: reading it reports which.
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
    throw linked(shown, 'is a link that leads out of the repository');
}

/** A file that is only ours must not overwrite another one through a link. */
export function requireNoLink(path: string, shown: string): void {
  if (isLink(path)) throw linked(shown, 'is a link');
}

const linked = (shown: string, what: string): CliError =>
  new CliError('LINKED_FILE', `${shown} ${what}. Nothing was changed.`, 'Remove the link, or replace it with the file it points to, then run this again.');
