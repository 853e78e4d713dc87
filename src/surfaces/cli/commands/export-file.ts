import { existsSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError } from '../command.ts';

export type Write = (lines: string) => Promise<void>;

/** Whole and on disk, or not there: it gets its name at the end. */
export async function writeWhole<T>(path: string, produce: (write: Write) => Promise<T>): Promise<T> {
  const partial = `${path}.partial`;
  refuseExisting(path, 'Give another name, or remove it.');
  refuseExisting(partial, 'Another export writes it. If none does, one was killed: remove it.');
  const file = await create(partial);
  try {
    const made = await produce((lines) => file.appendFile(lines).catch(unwritten(path)));
    await file.sync().catch(unwritten(path));
    await file.close();
    refuseExisting(path, 'Give another name, or remove it.');
    await rename(partial, path);
    await syncFolder(dirname(path));
    return made;
  } catch (error) {
    await file.close().catch(() => {});
    await rm(partial, { force: true });
    throw error;
  }
}

function refuseExisting(path: string, next: string): void {
  if (existsSync(path)) throw new CliError('FILE_EXISTS', `${path} is there already.`, next);
}

async function create(path: string): Promise<FileHandle> {
  return await open(path, 'wx', 0o600).catch((error: Error) => {
    throw new CliError('NOT_WRITABLE', `${path}: ${error.message}`, 'Give a path in a folder that you may write to.');
  });
}

const unwritten = (path: string) => (error: Error) => {
  throw new CliError('NOT_WRITABLE', `${path}: ${error.message}. Nothing is left of it.`, 'Make room there, or give a path on another disk.');
};

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync();
  await folder.close();
}
