import { printable } from '../../wire/printable.ts';
import type { Invocation } from './command.ts';

/** Whether a person at a terminal can confirm an action that cannot be undone. */
export const canConfirm = ({ json, values }: Invocation): boolean => values.yes !== true && !json && process.stdin.isTTY && process.stderr.isTTY;

/** Only `y` or `yes` confirms. Anything else, including the end of the input, declines. */
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
