import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { processExists } from '../../../machine/process/group.ts';
import { userHome, writeTemporary } from '../../../wire/covibe-home.ts';
import { CliError } from '../../cli/command.ts';

interface FileText {
  readonly text: string;
  readonly mode: number;
}

/** One file and its new content. If `text` is undefined, the file is deleted. */
export interface FileWrite {
  readonly path: string;
  readonly shown: string;
  /** The content when the write was planned. Undefined if the file did not exist then. */
  readonly before: string | undefined;
  readonly text: string | undefined;
  readonly mode: number;
}

/** Returns undefined if the file does not exist. Throws if the file is not UTF-8, because writing it back would also change bytes outside the edit. */
export function readText(path: string, shown: string): FileText | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
    return { text, mode: statSync(path).mode & 0o7777 };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const why = name === 'TypeError' ? 'it is not UTF-8 text' : (code ?? name);
    throw new CliError('BROKEN_FILE', `${shown} cannot be read (${why}). Nothing was changed.`, 'Fix the file or move it away, then run this again.');
  }
}

/** Checks that a file can be written, before setup writes any file. Refuses a read-only file even if the permissions of its folder would allow replacing it. */
export function requireWritable(path: string, shown: string): void {
  const folder = nearestFolder(dirname(path));
  try {
    if (existsSync(path)) accessSync(path, constants.W_OK);
    accessSync(folder, constants.W_OK);
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
  } catch (error) {
    throw notWritable(shown, error);
  }
}

const nearestFolder = (folder: string): string => (existsSync(folder) || folder === dirname(folder) ? folder : nearestFolder(dirname(folder)));

/** Returns the missing folders of a path: the folder itself and its missing parents, outermost first. */
export const missingFolders = (folder: string): string[] => (existsSync(folder) ? [] : [...missingFolders(dirname(folder)), folder]);

/**
 * Writes all files or none, as far as the disk allows. First it writes each new content
 * to a temporary file next to its target. Then it moves all temporary files into place.
 */
export function writeAll(writes: readonly FileWrite[]): void {
  const made = [...new Set(writes.flatMap(({ path, text }) => (text === undefined ? [] : missingFolders(dirname(path)))))];
  const staged: { write: FileWrite; temporary: string }[] = [];
  const moved: FileWrite[] = [];
  try {
    for (const write of writes) {
      inform(write.shown, () => {
        removeTemporaryFiles(write.path);
        if (write.text === undefined) return;
        mkdirSync(dirname(write.path), { recursive: true, mode: write.mode & 0o077 ? 0o777 : 0o700 });
        staged.push({ write, temporary: writeTemporary(write.path, write.text, write.mode, write.before === undefined) });
      });
    }
    for (const { path, shown, before } of writes) if (readText(path, shown)?.text !== before) throw changedMeanwhile(shown);
    for (const write of writes) {
      inform(write.shown, () => {
        const temporary = staged.find((each) => each.write === write)?.temporary;
        if (temporary === undefined) rmSync(write.path, { force: true });
        else renameSync(temporary, write.path);
        moved.push(write);
      });
    }
  } catch (error) {
    // Deletes the temporary files first, because restoring a file needs disk space.
    for (const { temporary } of staged) rmSync(temporary, { force: true });
    for (const { path, before, mode } of moved.toReversed()) putBack(path, before, mode);
    removeEmptyFolders(made);
    throw error;
  }
}

/** Removes the folders that are empty, innermost first. Folders that still contain something stay. */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // The folder is not empty, or no longer exists.
    }
  }
}

/** Removes temporary files of a run that was killed before it could move them. */
export function removeTemporaryFiles(path: string): void {
  const [folder, start] = [dirname(path), `${basename(path)}.`];
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const pid = name.startsWith(start) ? /^(\d+)\.tmp$/.exec(name.slice(start.length))?.[1] : undefined;
    if (pid !== undefined && !processExists(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}

function putBack(path: string, before: string | undefined, mode: number): void {
  if (before === undefined) rmSync(path, { force: true });
  else renameSync(writeTemporary(path, before, mode), path);
}

function inform(shown: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    throw notWritable(shown, error);
  }
}

const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];

function notWritable(shown: string, error: unknown): CliError {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  const next = FULL.includes(code) ? 'Free disk space' : 'Make the file and its folder writable, or move the file away';
  return new CliError('NOT_WRITABLE', `${shown} cannot be written (${code}). Nothing was changed.`, `${next}, then run this again.`);
}

const changedMeanwhile = (shown: string): CliError =>
  new CliError('CHANGED_MEANWHILE', `${shown} was changed by another program in the meantime. Nothing was changed.`, 'Run this again.');

/** Shortens a path for people. A path in the repository is relative to its root, and a path in the home folder starts with `~`. */
export function shownPath(env: NodeJS.ProcessEnv, root: string, path: string): string {
  const [inRoot, inHome] = [relative(root, path), relative(userHome(env), path)];
  if (!inRoot.startsWith('..')) return inRoot;
  return inHome.startsWith('..') ? path : `~${sep}${inHome}`;
}
