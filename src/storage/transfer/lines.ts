import { createReadStream } from 'node:fs';
import { fileDamaged } from './format.ts';

/** This is far longer than any row. The limit prevents a file of another kind from being read into memory as one line. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface TransferLine {
  readonly number: number;
  /** The line without its newline. */
  readonly text: string;
  /** The line including its newline, if it has one. */
  readonly bytes: Buffer;
}

/** Splits at newlines only. Node's readline is not used, because it also splits at other separators that a text may contain. */
export async function* linesOf(path: string): AsyncGenerator<TransferLine> {
  let parts: Buffer[] = [];
  let size = 0;
  let number = 1;
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const own = chunk.subarray(from, at + 1);
      yield lineOf(number++, parts.length > 0 ? Buffer.concat([...parts, own]) : own);
      parts = [];
      size = 0;
      from = at + 1;
    }
    if (from === chunk.length) continue;
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE_BYTES) throw fileDamaged(number, 'the line is too long');
  }
  if (parts.length > 0) yield lineOf(number, Buffer.concat(parts));
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function lineOf(number: number, bytes: Buffer): TransferLine {
  const content = bytes.at(-1) === NEWLINE ? bytes.subarray(0, -1) : bytes;
  try {
    return { number, text: utf8.decode(content), bytes };
  } catch {
    throw fileDamaged(number, 'this is not UTF-8');
  }
}

export async function firstLine(path: string): Promise<string | undefined> {
  for await (const { text } of linesOf(path)) return text;
  return undefined;
}
