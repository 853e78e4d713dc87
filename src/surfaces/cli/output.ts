/** Results to stdout, narration to stderr. Colour on the mark only, and only on a terminal. */
export interface Output {
  result(text: string): void;
  note(text: string): void;
  readonly mark: Record<'good' | 'bad' | 'wait' | 'quiet', string>;
  /** How something stands, by the signs that the dashboard has for it. */
  readonly tone: Record<'you' | 'live' | 'wait' | 'bad' | 'quiet', string>;
  /** Whether it can show more than ASCII. */
  readonly utf8: boolean;
}

export function createOutput(env: NodeJS.ProcessEnv, stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Output {
  const colour = stdout.isTTY === true && env.NO_COLOR === undefined && env.TERM !== 'dumb';
  const utf8 = /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '') || process.platform === 'darwin';
  const mark = (symbol: string, ascii: string, code: number) => (colour ? `\u001b[${code}m${utf8 ? symbol : ascii}\u001b[0m` : utf8 ? symbol : ascii);
  // `covenant audit export | head` closes the pipe: nobody is left to print for, and that is no fault.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    stderr.write(`stdout: ${error.message}\n    next: make room there, or write to another place\n`);
    process.exit(1);
  });
  return {
    result: (text) => void stdout.write(`${text}\n`),
    note: (text) => void stderr.write(`${text}\n`),
    utf8,
    mark: { good: mark('✓', 'ok', 32), bad: mark('✗', 'x', 31), wait: mark('!', '!', 33), quiet: mark('○', 'o', 90) },
    tone: { you: mark('◆', '?', 35), live: mark('●', '*', 34), wait: mark('▲', '!', 33), bad: mark('✕', 'x', 31), quiet: mark('○', 'o', 90) },
  };
}

/** Columns as wide as their widest cell; the last is left ragged. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  ')).join('\n');
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export function age(then: number | null, now: number): string {
  if (then === null) return '—';
  const seconds = Math.max(0, Math.round((now - then) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return new Date(then).toISOString().slice(0, 10);
}
