import { stripVTControlCharacters } from 'node:util';
import { printable, printableLine } from '../../wire/printable.ts';
import { columnsOf, fitted, padded } from './columns.ts';

/** Prints results to stdout and notes to stderr. Colours only our own marks, and escapes all other text, so that commands need not escape anything. */
export interface CliOutput {
  result(text: string): void;
  note(text: string): void;
  /** Prints a result without escaping it, for programs. */
  verbatim(text: string): void;
  /** Prints part of a result without escaping it. Resolves when the text has been passed on to the reader. */
  stream(text: string): Promise<void>;
  readonly mark: Record<'good' | 'bad' | 'wait' | 'quiet', string>;
  /** The signs for states. The dashboard uses the same signs. */
  readonly tone: Record<'you' | 'live' | 'wait' | 'bad' | 'quiet', string>;
  /** Whether the output can show characters beyond ASCII. */
  readonly utf8: boolean;
  /** The maximum width of tables. This is the width of the terminal. For a pipe or a file, the width is unlimited. */
  readonly columns: number;
}

export function createOutput(
  env: NodeJS.ProcessEnv,
  stdout: NodeJS.WriteStream,
  stderr: NodeJS.WriteStream,
  { noColor = false }: { noColor?: boolean } = {},
): CliOutput {
  const mayColour = !noColor && env.NO_COLOR === undefined && env.TERM !== 'dumb';
  const utf8 = /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '') || process.platform === 'darwin';
  const coloured = new Map<string, string>();
  const mark = (symbol: string, ascii: string, code: number) => {
    const plain = utf8 ? symbol : ascii;
    if (!mayColour || !(stdout.isTTY || stderr.isTTY)) return plain;
    const painted = `\u001b[${code}m${plain}\u001b[0m`;
    coloured.set(painted, plain);
    return painted;
  };
  // In `covenant audit export | head`, head closes the pipe when it has enough output. That is not an error.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    stderr.write(`Cannot write to standard output: ${error.message}\n    next: free some space, or write the output to another place\n`);
    process.exit(1);
  });
  const marks = {
    mark: { good: mark('✓', 'ok', 32), bad: mark('✗', 'x', 31), wait: mark('!', '!', 33), quiet: mark('○', 'o', 90) },
    tone: { you: mark('◆', '?', 35), live: mark('●', '*', 34), wait: mark('▲', '!', 33), bad: mark('✕', 'x', 31), quiet: mark('○', 'o', 90) },
  };
  /** Removes the colour of the marks if this stream is not a terminal. The marks can have colours anyway, because the other stream may be a terminal. */
  const shownOn = (stream: NodeJS.WriteStream, text: string) => {
    const escaped = escapedBetween(text, [...coloured.keys()]);
    return stream.isTTY ? escaped : [...coloured].reduce((plainText, [painted, plain]) => plainText.replaceAll(painted, plain), escaped);
  };
  return {
    result: (text) => void stdout.write(`${shownOn(stdout, text)}\n`),
    note: (text) => void stderr.write(`${shownOn(stderr, text)}\n`),
    verbatim: (text) => void stdout.write(`${text}\n`),
    stream: (text) => new Promise((resolve) => stdout.write(text, () => resolve())),
    utf8,
    columns: stdout.isTTY ? (stdout.columns ?? 80) : Number.POSITIVE_INFINITY,
    ...marks,
  };
}

/** Escapes everything except our own coloured marks. These are harmless, because each mark colours only one sign. */
function escapedBetween(text: string, marks: readonly string[]): string {
  const [mark, ...rest] = marks;
  if (mark === undefined) return printable(text);
  return text
    .split(mark)
    .map((part) => escapedBetween(part, rest))
    .join(mark);
}

export interface TableShape {
  readonly head: readonly string[];
  /** The columns to shorten on a narrow terminal, in this order. Each column has a minimum width. If the minimum is 0, the whole column is left out. */
  readonly narrow?: readonly (readonly [column: string, least: number])[];
}

/** Formats a table that is not wider than this number of terminal columns. Escapes line breaks and control characters in cells. */
export function table({ head, narrow = [] }: TableShape, rows: readonly (readonly string[])[], columns = Number.POSITIVE_INFINITY): string {
  const all = [head, ...rows].map((row) => row.map(printableLine));
  const widths = head.map((_, column) => Math.max(...all.map((row) => columnsOf(row[column] ?? ''))));
  for (const [name, least] of narrow) {
    const over = widths.reduce((sum, width) => sum + (width < 0 ? 0 : width + 2), -2) - columns;
    const [column, width] = [head.indexOf(name), widths[head.indexOf(name)]];
    if (over > 0 && width !== undefined) widths[column] = least === 0 ? DROPPED : Math.min(width, Math.max(least, width - over));
  }
  const kept = widths.flatMap((width, column) => (width === DROPPED ? [] : [column]));
  return all
    .map((row) => kept.map((column) => ({ cell: fitted(row[column] ?? '', widths[column] ?? 0), width: widths[column] ?? 0 })))
    .map((cells) => cells.map(({ cell, width }, place) => (place === cells.length - 1 ? cell : padded(cell, width))).join('  '))
    .map((line) => fitted(line, columns))
    .join('\n');
}

const DROPPED = -1;

/** Formats a table, or returns the sentence `none` if there are no rows. `total` is the number of all rows, in case `rows` contains only some of them. */
export function list(
  shape: TableShape,
  rows: readonly (readonly string[])[],
  { none, total = 0, which = 'newest', columns }: { none: string; total?: number; which?: string; columns?: number },
): string {
  return `${rows.length === 0 ? none : table(shape, rows, columns)}${total > rows.length ? `\n(the ${which} ${rows.length} of ${total})` : ''}`;
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

/** Removes colours and cursor movements from the output of another program. Other control characters are escaped when the text is printed. */
export const withoutPaint = (text: string): string => stripVTControlCharacters(text).replaceAll('\r', '');

/**
 * Replaces invisible characters with escapes. A tool definition could use such characters to hide words that only the model reads, or to reverse the
 * text that a person reads. Spaces and line ends stay as they are.
 */
export const escapeInvisible = (text: string): string =>
  text.toWellFormed().replace(/(?![\n ])[\p{C}\p{Z}\p{DI}\u2800]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16).toUpperCase()}}`);
