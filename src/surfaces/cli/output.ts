import { stripVTControlCharacters } from 'node:util';
import { printable, printableLine } from '../../wire/printable.ts';

/** Results to stdout, narration to stderr. Colour on the mark only, and only on a terminal. Text of others is escaped here, for every command. */
export interface CliOutput {
  result(text: string): void;
  note(text: string): void;
  /** A result as it is, for programs. */
  verbatim(text: string): void;
  /** Part of a result, as it is; settles when the reader has taken it. */
  stream(text: string): Promise<void>;
  readonly mark: Record<'good' | 'bad' | 'wait' | 'quiet', string>;
  /** How something stands, by the signs that the dashboard has for it. */
  readonly tone: Record<'you' | 'live' | 'wait' | 'bad' | 'quiet', string>;
  /** Whether it can show more than ASCII. */
  readonly utf8: boolean;
}

export function createOutput(env: NodeJS.ProcessEnv, stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): CliOutput {
  const colour = stdout.isTTY === true && env.NO_COLOR === undefined && env.TERM !== 'dumb';
  const utf8 = /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '') || process.platform === 'darwin';
  const mark = (symbol: string, ascii: string, code: number) => (colour ? `\u001b[${code}m${utf8 ? symbol : ascii}\u001b[0m` : utf8 ? symbol : ascii);
  // `covenant audit export | head` closes the pipe: nobody is left to print for, and that is no fault.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    stderr.write(`stdout: ${error.message}\n    next: make room there, or write to another place\n`);
    process.exit(1);
  });
  const marks = {
    mark: { good: mark('✓', 'ok', 32), bad: mark('✗', 'x', 31), wait: mark('!', '!', 33), quiet: mark('○', 'o', 90) },
    tone: { you: mark('◆', '?', 35), live: mark('●', '*', 34), wait: mark('▲', '!', 33), bad: mark('✕', 'x', 31), quiet: mark('○', 'o', 90) },
  };
  const coloured = colour ? [...Object.values(marks.mark), ...Object.values(marks.tone)] : [];
  const shown = (text: string) => escapedBetween(text, coloured);
  return {
    result: (text) => void stdout.write(`${shown(text)}\n`),
    note: (text) => void stderr.write(`${shown(text)}\n`),
    verbatim: (text) => void stdout.write(`${text}\n`),
    stream: (text) => new Promise((resolve) => stdout.write(text, () => resolve())),
    utf8,
    ...marks,
  };
}

/** Everything but our own coloured marks, which cannot do more than colour one sign. */
function escapedBetween(text: string, marks: readonly string[]): string {
  const [mark, ...rest] = marks;
  if (mark === undefined) return printable(text);
  return text
    .split(mark)
    .map((part) => escapedBetween(part, rest))
    .join(mark);
}

/** Columns as wide as their widest cell; the last is left ragged. No cell can begin a line or steer the terminal. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(printableLine));
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  ')).join('\n');
}

/** A table, or the sentence for none. `total`: how many there are, where that may be more than these. */
export function list(head: readonly string[], rows: readonly (readonly string[])[], none: string, total = 0, which = 'newest'): string {
  return `${rows.length === 0 ? none : table(head, rows)}${total > rows.length ? `\n(the ${which} ${rows.length} of ${total})` : ''}`;
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export function age(then: number | null, now: number = Date.now()): string {
  if (then === null) return '—';
  const seconds = Math.max(0, Math.round((now - then) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return new Date(then).toISOString().slice(0, 10);
}

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

export const indented = (text: string): string => text.replaceAll(/^/gm, '  ');

/** The text that another program painted, without its colours and moves. The printer escapes the rest. */
export const withoutPaint = (text: string): string => stripVTControlCharacters(text).replaceAll('\r', '');

/**
 * What nobody sees on a screen is written out: a definition may hide words for the model in it, or turn round what a person reads.
 * Spaces and line ends stay, everything else without a shape of its own does not.
 */
export const escapeInvisible = (text: string): string =>
  text.toWellFormed().replace(/(?![\n ])[\p{C}\p{Z}\p{DI}\u2800]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16).toUpperCase()}}`);
