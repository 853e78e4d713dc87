import { CliError } from '../../cli/command.ts';

interface Position {
  readonly line: number;
  readonly column: number;
}

export function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** The message does not quote the file, because the file may contain secrets. */
export const brokenFile = (file: string, { line, column }: Position, problem: string): CliError =>
  new CliError(
    'BROKEN_FILE',
    `${file}, line ${line}, column ${column}: ${problem}. Nothing was changed.`,
    'Fix it there or move the file away, then run this again.',
  );
