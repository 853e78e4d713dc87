import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { orNothing } from '../wire/or-nothing.ts';

/**
 * Returns the path itself if it exists, otherwise its deepest existing parent folder. Searches from the top, because nothing can exist below a missing
 * folder.
 */
export function nearestExisting(path: string): string {
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

/**
 * Resolves the symbolic links in a path. If the file does not exist yet, the links of its nearest existing folder are resolved. On a case-insensitive file
 * system, the result has the spelling that is stored on disk.
 */
export function realPathOf(path: string): string {
  const whole = resolve(path);
  const existing = nearestExisting(whole);
  return join(orNothing(() => realpathSync.native(existing)) ?? existing, whole.slice(existing.length));
}

function isUnder(path: string, folder: string): boolean {
  const way = relative(realPathOf(folder), realPathOf(path));
  return way === '' || (way !== '..' && !/^\.\.[\\/]/.test(way) && !isAbsolute(way));
}

/** Whether the server may access this path. `folders` lists the folders in which repositories may be. If it is undefined, they may be anywhere. */
export const isAllowed = (path: string, folders: readonly string[] | undefined): boolean => !folders || folders.some((folder) => isUnder(path, folder));
