import { createInterface } from 'node:readline/promises';
import { printable } from '../../kernel/log.ts';

/** Yes is said in so many letters; everything else, the end of the input too, is no. */
export async function confirm(question: string, input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<boolean> {
  const lines = createInterface({ input, output });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return /^y(es)?$/i.test((await Promise.race([lines.question(printable(question)), ended])).trim());
  } finally {
    lines.close();
  }
}
