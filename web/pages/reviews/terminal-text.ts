import type { ShownScreen } from './terminal-link.ts';

/** The output that makes a terminal show exactly this screen. */
export function painted({ text, cursor }: Pick<ShownScreen, 'text' | 'cursor'>): string {
  const lines = onlyColours(text).replace(/\n$/, '').replaceAll('\n', '\r\n');
  const shown = cursor === null ? '\u001b[?25l' : `\u001b[${cursor.row + 1};${cursor.column + 1}H\u001b[?25h`;
  return `\u001b[0m\u001b[3J\u001b[2J\u001b[H${lines}\u001b[0m${shown}`;
}

/** Keeps only text and colours. A log contains all output of its program, including sequences that set the title, the clipboard or the cursor. */
export const onlyColours = (text: string): string =>
  text.replace(SEQUENCES, (sequence, order: string | undefined) => (order === 'm' ? sequence : '')).replace(CONTROLS, '');

/** Escape sequences: strings (title, clipboard, answers), control sequences, of which `m` sets colours, and short ones. */
const SEQUENCES = /\u001b[\]PX^_][\s\S]*?(?:\u0007|\u001b\\|$)|\u001b\[[0-?]*[ -/]*([@-~])|\u001b[ -/]*[0-Z\\^-~]|\u001b/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;

/** The text for screen readers, without colours and trailing space. */
export const asText = (text: string): string =>
  onlyColours(text)
    .replace(/\u001b\[[0-?]*[ -/]*m/g, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();
