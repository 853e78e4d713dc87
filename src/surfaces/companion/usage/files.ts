import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Cursor, UsageBatch } from './event.ts';

export interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly changedAt: number;
}

/** Deeper than any client keeps its files. */
const DEEPEST = 6;

/** The files below a folder whose names fit. Symbolic links are not followed: they may lead anywhere. */
export function filesUnder(folder: string, fits: (name: string) => boolean, depth = DEEPEST): FoundFile[] {
  if (depth < 0) return [];
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesUnder(path, fits, depth - 1);
    return entry.isFile() && fits(entry.name) ? (fileAt(path) ?? []) : [];
  });
}

export function fileAt(path: string): FoundFile | undefined {
  try {
    const { size, mtimeMs } = statSync(path);
    return { path, size, changedAt: mtimeMs };
  } catch {
    // It went in the meantime, or is not ours to look at.
    return undefined;
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** How far a file was read, and what the rest cannot be understood without. */
export interface FileCursor extends Cursor {
  readonly offset: number;
}

export type ReadFile<C extends FileCursor> = (file: FoundFile, from: C | undefined, basket: UsageBatch) => C;

/**
 * Reads what is new in these files. A file that has become shorter is another file by the same name. One that cannot be read, such as somebody
 * else's, waits for another time and holds up no other.
 */
export function readFiles<C extends FileCursor>(files: readonly FoundFile[], cursors: Cursor, basket: UsageBatch, read: ReadFile<C>): Record<string, C> {
  const next: Record<string, C> = {};
  for (const [path, cursor] of Object.entries(cursors)) if (existsSync(path)) next[path] = cursor as C;
  for (const file of files) {
    const known = next[file.path];
    const from = known && known.offset <= file.size ? known : undefined;
    const isNew = from ? from.offset < file.size : file.changedAt >= basket.since;
    if (!isNew || basket.full()) continue;
    try {
      next[file.path] = read(file, from, basket);
    } catch (error) {
      basket.missed?.((error as NodeJS.ErrnoException).code ?? (error as Error).name);
    }
  }
  return next;
}
