import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Whether the environment's PATH contains a program of this name, or `command` is the absolute path of an executable file. */
export function hasProgram(command: string, env: Readonly<Record<string, string | undefined>>, platform: string = process.platform): boolean {
  if (isAbsolute(command)) return isExecutable(command);
  // A relative path is resolved in the working folder of the program, which may not exist yet.
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
