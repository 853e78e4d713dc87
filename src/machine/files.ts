import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { answers } from './group.ts';

/** What the server keeps in a repository besides git's own: each step is whole or not done at all, also when the power fails. */

/** A folder that should be one is a link, and leads elsewhere: nothing is written through it. */
export class FolderElsewhere extends Error {
  override readonly name = 'FolderElsewhere';

  constructor(folder: string, real: string) {
    super(`${folder} leads to ${real}`);
  }
}

/** Null where there is no such file. */
async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** `root` has no symbolic links in it, and below it none may be followed: a repository is not trusted with what lies beyond it. */
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
    const real = await realpath(folder);
    if (real !== folder) throw new FolderElsewhere(folder, real);
  }
  return folder;
}

/** Where something is made that will then be moved to `path`. The name tells whose it is. */
const besideName = (path: string): string => join(dirname(path), `.${basename(path)}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`);

/** What a process left half made that is no more. Files and folders of one that still runs are its own matter. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = /^\..+\.(\d+)\.[0-9a-f]{12}\.tmp$/.exec(name)?.[1];
    if (pid !== undefined && !answers(Number(pid))) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** A reader sees the old text or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = besideName(path);
  try {
    const file = await open(temporary, 'wx', 0o644);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
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

/** False where there is something at `to` already. */
async function moveFolder(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
  await syncFolder(dirname(to));
  return true;
}

async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/** A name is in its folder for good only once the folder itself is on disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** One value, so that a test can cut the power between two of its steps. */
export const fileDisk = { readText, isFolder, makeFolder, besideName, replaceFile, removeFile, moveFolder, removeFolder, removeLeftovers };
export type FileDisk = typeof fileDisk;
