import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { processExists } from './process/group.ts';

/** File operations for the files that the server writes to a repository. Even after a power failure, each operation has happened completely or not at all. */

/** A symbolic link was found where a folder should be. Nothing is written through it. */
export class FolderElsewhere extends Error {
  override readonly name = 'FolderElsewhere';

  constructor(folder: string, realPath: string) {
    super(`${folder} is a link to ${realPath}`);
  }
}

/** There is something other than a regular file at the path, or the file is larger than any file that the server writes. */
export class NotAFile extends Error {
  override readonly name = 'NotAFile';
  readonly why: string;

  constructor(path: string, why: string) {
    super(`${path} ${why}`);
    this.why = why;
  }
}

const MB = 1024 * 1024;
/** This is larger than any file that the server writes, even if someone reformats the file with one element per line. */
const MAX_BYTES = 64 * MB;

/** Returns null if the file does not exist. Refuses to read pipes and devices, because their content may never end. */
async function readText(path: string, maxBytes = MAX_BYTES): Promise<string | null> {
  try {
    // Without O_NONBLOCK, opening a pipe that nobody writes to would block forever.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new NotAFile(path, 'is not a file');
      if (found.size > maxBytes) throw new NotAFile(path, `is larger than ${maxBytes / MB} MB`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isMissing(error)) return null;
    // The path is a socket, or a link that leads to itself.
    if (['ENXIO', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw new NotAFile(path, 'is not a file');
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/**
 * Creates nested folders below `root` and returns the path of the innermost. `root` must not contain symbolic links. Links below it are not followed, so that
 * a repository cannot make the server write somewhere else.
 */
async function makeFolder(root: string, ...names: string[]): Promise<string> {
  let folder = root;
  for (const name of names) {
    const parent = folder;
    folder = join(folder, name);
    const made = await mkdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
        return false;
      },
    );
    if (made) await syncFolder(parent);
    const realPath = await realpath(folder);
    if (realPath !== folder) throw new FolderElsewhere(folder, realPath);
  }
  return folder;
}

/** A random value for each start of the server, because a server in a container gets the same process id every time. */
const START = randomBytes(6).toString('hex');

/** Returns the path of a temporary file that is later moved to `path`. Its name contains the id of the process that created it. */
const besideName = (path: string): string => join(dirname(path), `.${basename(path)}.${process.pid}.${START}${randomBytes(6).toString('hex')}.tmp`);

/** Removes the temporary files of processes that do not run anymore. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid, start] = /^\..+\.(\d+)\.([0-9a-f]{12})[0-9a-f]{12}\.tmp$/.exec(name) ?? [];
    if (pid === undefined) continue;
    const isMade = Number(pid) === process.pid ? start === START : processExists(Number(pid));
    if (!isMade) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Writes a temporary file and syncs it to disk. The caller must rename or remove it. */
async function writeBeside(path: string, text: string, mode: number): Promise<string> {
  const temporary = besideName(path);
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return temporary;
}

/** Replaces the file atomically: a reader sees either the old text or the new text. */
async function replaceFile(path: string, text: string, mode = 0o644): Promise<void> {
  const temporary = await writeBeside(path, text, mode);
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Creates the file with its whole content at once. If a file exists already, it stays unchanged and the result is false. */
export async function createFile(path: string, text: string, mode: number): Promise<boolean> {
  const temporary = await writeBeside(path, text, mode);
  try {
    // Unlike a rename, a link fails if the file exists already.
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path));
  return true;
}

async function removeFile(path: string): Promise<void> {
  try {
    await rm(path);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Moves the folder. Returns false if `to` exists already. */
async function moveFolder(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
  await syncFolder(dirname(to));
  return true;
}

async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/** Syncs a folder to disk. Without this, a new or changed name in it can be lost in a power failure. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** All file operations are in one object, so that a test can simulate a power failure between two of them. */
export const fileDisk = { readText, isFolder, makeFolder, besideName, replaceFile, removeFile, moveFolder, removeFolder, removeLeftovers };
export type FileDisk = typeof fileDisk;
