import type { WholeEntry } from '../../../clients/client.ts';
import { CliError } from '../../cli/command.ts';
import type { Editor } from './entry.ts';

/** Files that are setup's from the first line to the last. */
export const whole: Editor<WholeEntry> = {
  state(text, entry, file) {
    if (text === '') return 'missing';
    if (isSame(text, entry) || entry.isDefault) return 'good';
    if (!hasMark(text, entry)) throw notOurs(file);
    return 'stale';
  },
  put: (_text, entry) => ({ text: entry.text }),
  take: (text, { entry }) => (isSame(text, entry) ? '' : undefined),
};

/** Git may write the ends of lines as Windows has them. */
const isSame = (text: string, entry: WholeEntry): boolean => text.replaceAll('\r\n', '\n') === entry.text;

/** Others put lines on top, such as those that keep linters away. */
const MARK_WITHIN = 5;

/** The first line of ours, which every version has. */
function hasMark(text: string, entry: WholeEntry): boolean {
  const [mark] = entry.text.split('\n', 1);
  return text.split('\n', MARK_WITHIN).some((line) => line.trim() === mark);
}

const notOurs = (file: string): CliError =>
  new CliError('NOT_OURS', `${file} was not written by setup, which would replace it. Nothing was changed.`, 'Move it away; then run this again.');
