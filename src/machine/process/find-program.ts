import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Whether a program of this name is in a folder of the environment's PATH, or is an executable file where `command` is an absolute path. */
export function hasProgram(command: string, env: Readonly<Record<string, string | undefined>>, platform: string = process.platform): boolean {
  if (isAbsolute(command)) return isExecutable(command);
  // A relative path is resolved in the folder that the program is started in, which may not exist yet.
  if (/[\\/]/.test(command)) return true;
  const endings = platform === 'win32' ? ['', ...(env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';')] : [''];
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.some((folder) => endings.some((ending) => isExecutable(join(folder, `${command}${ending}`))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
