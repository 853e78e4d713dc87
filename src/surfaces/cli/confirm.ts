import { printable } from '../../wire/printable.ts';
import type { Invocation } from './command.ts';

/** Whether somebody sits there who can be asked before something is done that cannot be undone. */
export const canConfirm = ({ json, values }: Invocation): boolean => values.yes !== true && !json && process.stdin.isTTY && process.stderr.isTTY;

/** Yes is said in so many letters; everything else, the end of the input too, is no. */
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
