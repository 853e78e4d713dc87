import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { processExists } from './process/group.ts';

/** Files of the server in a repository. Each operation happens completely or not at all, even after a power failure. */

/** A link is in place of a folder. Nothing is written through it. */
export class FolderElsewhere extends Error {
  override readonly name = 'FolderElsewhere';

  constructor(folder: string, realPath: string) {
    super(`${folder} is a link to ${realPath}`);
  }
}

/** Something other than a regular file is in place of a file, or the file is larger than any that the server writes. */
export class NotAFile extends Error {
  override readonly name = 'NotAFile';
  readonly why: string;

  constructor(path: string, why: string) {
    super(`${path} ${why}`);
    this.why = why;
  }
}

const MB = 1024 * 1024;
/** Larger than the server's largest file, even if that is formatted with one element per line. */
const MAX_BYTES = 64 * MB;

/** Null if the file does not exist. Pipes and devices are not read, because they may never end. */
async function readText(path: string, maxBytes = MAX_BYTES): Promise<string | null> {
  try {
    // Opening a pipe without a writer would block forever.
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
    // A socket, or a link to itself.
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

/** `root` contains no symbolic links. None is followed below it, so that a repository cannot lead the server outside. */
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

/** Distinguishes the starts of a server in a container, which gets the same process id every time. */
const START = randomBytes(6).toString('hex');

/** The temporary name for something that is later moved to `path`. The name identifies its owner. */
const besideName = (path: string): string => join(dirname(path), `.${basename(path)}.${process.pid}.${START}${randomBytes(6).toString('hex')}.tmp`);

/** Removes temporary files of processes that have ended. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid, start] = /^\..+\.(\d+)\.([0-9a-f]{12})[0-9a-f]{12}\.tmp$/.exec(name) ?? [];
    if (pid === undefined) continue;
    const isMade = Number(pid) === process.pid ? start === START : processExists(Number(pid));
    if (!isMade) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Writes a temporary file to disk. The caller renames or removes it. */
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

/** A reader sees either the old text or the new one. */
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

/** Creates a complete file. Returns false if one exists, which stays unchanged. */
export async function createFile(path: string, text: string, mode: number): Promise<boolean> {
  const temporary = await writeBeside(path, text, mode);
  try {
    // Unlike a rename, a link fails if the name is taken.
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

/** Returns false if `to` exists already. */
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

/** A name in a folder is permanent only once the folder itself is on disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** One object, so that a test can simulate a power failure between two of its steps. */
export const fileDisk = { readText, isFolder, makeFolder, besideName, replaceFile, removeFile, moveFolder, removeFolder, removeLeftovers };
export type FileDisk = typeof fileDisk;
