import { closeSync, fchmodSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { orNothing } from './or-nothing.ts';

/** The companion's folder on this machine: `~/.covibe`, readable by its owner only. */
export const covibeHome = (env: NodeJS.ProcessEnv): string => join(userHome(env), '.covibe');

export const userHome = (env: NodeJS.ProcessEnv): string => env.HOME || homedir();

/** Undefined if the file does not exist or is not JSON: the parser's message would quote its content. */
export const readJson = (path: string): unknown => orNothing(() => JSON.parse(readFileSync(path, 'utf8')));

/** Writes the file completely or not at all. It is on disk when this returns, and readable only by its owner. */
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

/**
 * Writes a temporary file next to the target. When this returns, the temporary file is complete and on disk. Removed again if that fails. `byUmask`: the mode follows the
 * person's umask.
 */
export function writeTemporary(path: string, text: string, mode: number, byUmask = false): string {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = openSync(temporary, 'w', mode);
    try {
      // Not `writeSync`: on a full disk it writes a part and reports success.
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
