import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson, recordOf } from '../../../wire/json.ts';
import { orNothing } from '../../../wire/or-nothing.ts';
import type { Cursor, UsageBatch } from './usage-batch.ts';

export interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly changedAt: number;
}

/** The maximum folder depth. No client stores its files in deeper folders. */
const DEEPEST = 6;

/** Finds the files with matching names below a folder. Does not follow symbolic links, because they may lead to any folder. */
export function filesUnder(folder: string, fits: (name: string) => boolean, depth = DEEPEST): FoundFile[] {
  if (depth < 0) return [];
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesUnder(path, fits, depth - 1);
    return entry.isFile() && fits(entry.name) ? (fileAt(path) ?? []) : [];
  });
}

export const filesOf = ({ folders, name }: { readonly folders: readonly string[]; readonly name: RegExp }): FoundFile[] =>
  folders.flatMap((folder) => filesUnder(folder, (each) => name.test(each)));

export function fileAt(path: string): FoundFile | undefined {
  try {
    const { size, mtimeMs } = statSync(path);
    return { path, size, changedAt: mtimeMs };
  } catch {
    // The file was deleted in the meantime, or it is not accessible.
    return undefined;
  }
}

const entriesOf = (folder: string) => orNothing(() => readdirSync(folder, { withFileTypes: true })) ?? [];

/** The offset up to which a file was read, and the state that is needed to read the rest. */
export interface FileCursor extends Cursor {
  readonly offset: number;
}

type ReadFile<C extends FileCursor> = (file: FoundFile, from: C | undefined, batch: UsageBatch) => C;

/**
 * Reads the new lines of these files. A file that has become shorter is read from its start. If a file cannot be read, for example because it belongs to
 * another user, it is retried later and does not delay the others.
 */
export function readFiles<C extends FileCursor>(files: readonly FoundFile[], cursors: Cursor, batch: UsageBatch, read: ReadFile<C>): Record<string, C> {
  const next: Record<string, C> = {};
  for (const [path, cursor] of Object.entries(cursors)) if (existsSync(path)) next[path] = cursor as C;
  for (const file of files) {
    const known = next[file.path];
    const from = known && known.offset <= file.size ? known : undefined;
    const isNew = from ? from.offset < file.size : file.changedAt >= batch.since;
    if (!isNew || batch.full()) continue;
    try {
      next[file.path] = read(file, from, batch);
    } catch (error) {
      batch.missed?.((error as NodeJS.ErrnoException).code ?? (error as Error).name);
    }
  }
  return next;
}

interface LoggedLine {
  /** Undefined if the line is too long to contain usage. */
  readonly bytes: Buffer | undefined;
  readonly start: number;
  /** The offset of the next line. */
  readonly end: number;
}

const CHUNK = 64 * 1024;
const LONGEST = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Reads the complete lines after an offset, with limited memory. Leaves out a last line that is still being written. */
export function* linesFrom(path: string, offset: number, longest = LONGEST): Generator<LoggedLine> {
  const file = openSync(path, 'r');
  try {
    let pieces: Buffer[] = [];
    let length = 0;
    let start = offset;
    const chunk = Buffer.allocUnsafe(CHUNK);
    for (let at = offset; ; ) {
      const read = readSync(file, chunk, 0, CHUNK, at);
      if (read === 0) return;
      for (let from = 0; from < read; ) {
        const found = chunk.subarray(0, read).indexOf(NEWLINE, from);
        const to = found < 0 ? read : found;
        length += to - from;
        // The bytes are copied, because the chunk buffer is reused.
        if (length <= longest) pieces.push(Buffer.from(chunk.subarray(from, to)));
        else pieces = [];
        if (found < 0) break;
        const end = at + found + 1;
        yield { bytes: length <= longest ? Buffer.concat(pieces) : undefined, start, end };
        [pieces, length, start, from] = [[], 0, end, found + 1];
      }
      at += read;
    }
  } finally {
    closeSync(file);
  }
}

/** Parses the JSON object on a line. Returns undefined if the line contains none of these words or is not an object. */
export function objectOn({ bytes }: LoggedLine, ...words: readonly string[]): Record<string, unknown> | undefined {
  return bytes && words.some((word) => bytes.includes(word)) ? recordOf(parseJson(bytes.toString('utf8'))) : undefined;
}
