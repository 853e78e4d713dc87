import { closeSync, fchmodSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { orNothing } from './or-nothing.ts';

/** The companion's folder on this machine: `~/.covibe`, readable by its owner only. */
export const covibeHome = (env: NodeJS.ProcessEnv): string => join(userHome(env), '.covibe');

export const userHome = (env: NodeJS.ProcessEnv): string => env.HOME || homedir();

/** Undefined where there is no such file, or no JSON in it: the parser's message would quote what is there. */
export const readJson = (path: string): unknown => orNothing(() => JSON.parse(readFileSync(path, 'utf8')));

/** Whole or not at all, on disk when it returns, and readable by its owner alone. */
export function replaceFile(path: string, text: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = writeTemporary(path, text, mode);
  try {
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Beside its place, on disk and whole when it returns; nothing is left of it where that fails. `byUmask`: the mode goes by what the person set. */
export function writeTemporary(path: string, text: string, mode: number, byUmask = false): string {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = openSync(temporary, 'w', mode);
    try {
      // Not `writeSync`: where the disk is full it writes a part, and does not say so.
      writeFileSync(file, text);
      if (!byUmask) fchmodSync(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return temporary;
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
