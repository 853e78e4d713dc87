import { printable } from '../../wire/printable.ts';
import type { Invocation } from './command.ts';

/** Whether the command can ask a person at a terminal for confirmation. */
export const canConfirm = ({ json, values }: Invocation): boolean => values.yes !== true && !json && process.stdin.isTTY && process.stderr.isTTY;

/** Returns true only for the answers `y` and `yes`. Any other answer declines, and so does the end of the input. */
export async function confirm(
  question: string,
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input, output });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return /^y(es)?$/i.test((await Promise.race([lines.question(printable(`${question} [y/N] `)), ended])).trim());
  } finally {
    lines.close();
  }
}
