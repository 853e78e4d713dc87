import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { orNothing } from '../wire/or-nothing.ts';

/** The path itself, or the deepest folder on the way to it that there is. From the top down: beneath one that is missing there is nothing to look for. */
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

/** Of a file that does not exist yet, by its nearest folder that does; also in the letters that the file system has for it, where those are not told apart by case. */
export function realPathOf(path: string): string {
  const whole = resolve(path);
  const existing = nearestExisting(whole);
  return join(orNothing(() => realpathSync.native(existing)) ?? existing, whole.slice(existing.length));
}

function isUnder(path: string, folder: string): boolean {
  const way = relative(realPathOf(folder), realPathOf(path));
  return way === '' || (way !== '..' && !/^\.\.[\\/]/.test(way) && !isAbsolute(way));
}

/** Whether the server may touch what is at this path. `folders`: where repositories may be; undefined: anywhere. */
export const isAllowed = (path: string, folders: readonly string[] | undefined): boolean => !folders || folders.some((folder) => isUnder(path, folder));
