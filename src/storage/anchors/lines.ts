import { closeSync, constants, existsSync, fstatSync, fsyncSync, mkdirSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Appends one line and syncs it to disk. If a crash left an incomplete last line, the new text starts on a line of its own. */
export function appendLine(path: string, line: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const isNew = !existsSync(path);
  // O_NOFOLLOW: if the path were a symbolic link, we would write into another file.
  const file = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
  try {
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    if (size > 0) readSync(file, last, 0, 1, size - 1);
    writeFileSync(file, `${size > 0 && last.toString() !== '\n' ? '\n' : ''}${line}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (isNew) syncFolder(dirname(path));
}

export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  fsyncSync(folder);
  closeSync(folder);
}

export interface ReadLine {
  readonly number: number;
  readonly text: string;
  /** Undefined if the line is not valid JSON, for example because a crash cut it short. */
  readonly value: unknown;
}

/** Returns an empty list if the file does not exist. */
export function readLines(path: string): ReadLine[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((text, index) => (text.trim() === '' ? [] : [{ number: index + 1, text, value: parsed(text) }]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
