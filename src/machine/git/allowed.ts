import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';

const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

function isUnder(path: string, folder: string): boolean {
  const way = relative(real(folder), real(path));
  return way === '' || (way !== '..' && !/^\.\.[\\/]/.test(way) && !isAbsolute(way));
}

/** Whether the server may touch what is at this path. `folders`: where repositories may be; undefined: anywhere. */
export const isAllowed = (path: string, folders: readonly string[] | undefined): boolean => !folders || folders.some((folder) => isUnder(path, folder));
