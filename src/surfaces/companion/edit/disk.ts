import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { processExists } from '../../../machine/process/group.ts';
import { userHome, writeTemporary } from '../../../wire/covibe-home.ts';
import { CliError } from '../../cli/command.ts';

interface FileText {
  readonly text: string;
  readonly mode: number;
}

/** One file as it is to be. `text` undefined: it is to be gone. */
export interface FileWrite {
  readonly path: string;
  readonly shown: string;
  /** As it was when this was planned; undefined where there was no file. */
  readonly before: string | undefined;
  readonly text: string | undefined;
  readonly mode: number;
}

/** Undefined where there is none. Decoded strictly, so that what is written back is what was there. */
export function readText(path: string, shown: string): FileText | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
    return { text, mode: statSync(path).mode & 0o7777 };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const why = name === 'TypeError' ? 'it is no UTF-8 text' : (code ?? name);
    throw new CliError('BROKEN_FILE', `${shown} cannot be read (${why}). Nothing was changed.`, 'Mend it, or move it away; then run this again.');
  }
}

/** Before anything is written: a file that its owner has closed stays closed, although its folder would let us replace it. */
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

/** The folders above a file that are still to be made, the outermost first. */
export const missingFolders = (folder: string): string[] => (existsSync(folder) ? [] : [...missingFolders(dirname(folder)), folder]);

/** All of them or none, as far as a disk allows: each is whole beside its place before the first takes its place. */
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
    // In this order: to put something back takes room on the disk.
    for (const { temporary } of staged) rmSync(temporary, { force: true });
    for (const { path, before, mode } of moved.toReversed()) putBack(path, before, mode);
    removeEmptyFolders(made);
    throw error;
  }
}

/** The innermost first; what has been put into one keeps it. */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // Not empty, or gone.
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
  const next = FULL.includes(code) ? 'Make room on the disk' : 'Make it and its folder writable, or move it away';
  return new CliError('NOT_WRITABLE', `${shown} cannot be written (${code}). Nothing was changed.`, `${next}; then run this again.`);
}

const changedMeanwhile = (shown: string): CliError =>
  new CliError('CHANGED_MEANWHILE', `${shown} was changed by somebody else just now. Nothing was changed.`, 'Run this again.');

/** As people call a file: from the top of the repository, or from their home. */
export function shownPath(env: NodeJS.ProcessEnv, root: string, path: string): string {
  const [inRoot, inHome] = [relative(root, path), relative(userHome(env), path)];
  if (!inRoot.startsWith('..')) return inRoot;
  return inHome.startsWith('..') ? path : `~${sep}${inHome}`;
}
