import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Whether `command` is the name of a program in the environment's PATH, or the absolute path of an executable file. */
export function hasProgram(command: string, env: Readonly<Record<string, string | undefined>>, platform: string = process.platform): boolean {
  if (isAbsolute(command)) return isExecutable(command);
  // A relative path cannot be checked yet, because it is resolved in the program's working folder, which may not exist.
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
