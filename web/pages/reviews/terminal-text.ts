import type { ShownScreen } from './terminal-link.ts';

/** Returns the output that makes a terminal show exactly this screen. */
export function painted({ text, cursor }: Pick<ShownScreen, 'text' | 'cursor'>): string {
  const lines = onlyColours(text).replace(/\n$/, '').replaceAll('\n', '\r\n');
  const shown = cursor === null ? '\u001b[?25l' : `\u001b[${cursor.row + 1};${cursor.column + 1}H\u001b[?25h`;
  return `\u001b[0m\u001b[3J\u001b[2J\u001b[H${lines}\u001b[0m${shown}`;
}

/** Removes everything except text and colours. The log of a program also contains sequences that would change the title, the clipboard or the cursor. */
export const onlyColours = (text: string): string =>
  text.replace(SEQUENCES, (sequence, order: string | undefined) => (order === 'm' ? sequence : '')).replace(CONTROLS, '');

/**
 * Matches three kinds of escape sequences: strings (for the title, clipboard and answers), control sequences (those that end in `m` set colours), and short
 * sequences.
 */
const SEQUENCES = /\u001b[\]PX^_][\s\S]*?(?:\u0007|\u001b\\|$)|\u001b\[[0-?]*[ -/]*([@-~])|\u001b[ -/]*[0-Z\\^-~]|\u001b/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;

/** Returns the text for screen readers, without colours and trailing spaces. */
export const asText = (text: string): string =>
  onlyColours(text)
    .replace(/\u001b\[[0-?]*[ -/]*m/g, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();
