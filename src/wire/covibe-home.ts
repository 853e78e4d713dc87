import { closeSync, fchmodSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { orNothing } from './or-nothing.ts';

/** The companion's folder on this machine: `~/.covibe`, readable by its owner only. */
export const covibeHome = (env: NodeJS.ProcessEnv): string => join(userHome(env), '.covibe');

export const userHome = (env: NodeJS.ProcessEnv): string => env.HOME || homedir();

/** Returns undefined if the file does not exist or is not JSON. It does not throw, because the error message would quote the content of the file. */
export const readJson = (path: string): unknown => orNothing(() => JSON.parse(readFileSync(path, 'utf8')));

/** Replaces the file completely or not at all. When this returns, the new content is on disk. By default, only the owner can read the file. */
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
 * Writes a temporary file next to the target and returns its path. The temporary file is then complete and on disk. If writing
 * fails, the file is removed. `byUmask`: the umask of the person determines the file mode.
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
