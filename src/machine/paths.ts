import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { orNothing } from '../wire/or-nothing.ts';

/** The path itself, or its deepest existing parent. Searched from the top down: nothing exists below a missing folder. */
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

/** The real path of a file that may not exist yet, through its nearest existing folder. On a case-insensitive file system, in the spelling that is stored. */
export function realPathOf(path: string): string {
  const whole = resolve(path);
  const existing = nearestExisting(whole);
  return join(orNothing(() => realpathSync.native(existing)) ?? existing, whole.slice(existing.length));
}

function isUnder(path: string, folder: string): boolean {
  const way = relative(realPathOf(folder), realPathOf(path));
  return way === '' || (way !== '..' && !/^\.\.[\\/]/.test(way) && !isAbsolute(way));
}

/** Whether the server may access this path. `folders`: where repositories may be; undefined: anywhere. */
export const isAllowed = (path: string, folders: readonly string[] | undefined): boolean => !folders || folders.some((folder) => isUnder(path, folder));
