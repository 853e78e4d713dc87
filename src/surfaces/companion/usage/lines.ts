import { closeSync, openSync, readSync } from 'node:fs';

export interface LoggedLine {
  /** Undefined where it is longer than anything that is looked for. */
  readonly bytes: Buffer | undefined;
  readonly start: number;
  /** Where the next line begins. */
  readonly end: number;
}

const CHUNK = 64 * 1024;
const LONGEST = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The whole lines from an offset on, in bounded memory; one that is still being written is left for another time. */
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
        // A copy: the chunk is used again.
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

/** The object on a line; undefined where it is none, or has none of these words and need not be looked at. */
export function objectOn({ bytes }: LoggedLine, ...words: readonly string[]): Record<string, unknown> | undefined {
  if (!bytes || !words.some((word) => bytes.includes(word))) return undefined;
  try {
    return recordOf(JSON.parse(bytes.toString('utf8')));
  } catch {
    return undefined;
  }
}

export const recordOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
