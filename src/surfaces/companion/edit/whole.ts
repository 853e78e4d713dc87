import type { WholeEntry } from '../../../clients/client.ts';
import { CliError } from '../../cli/command.ts';
import type { Editor } from './entry.ts';

/** Edits files whose whole content comes from setup. */
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

/** Ignores Windows line endings, because git may have converted the line endings of the file. */
const isSame = (text: string, entry: WholeEntry): boolean => text.replaceAll('\r\n', '\n') === entry.text;

/** The number of lines that are searched for the mark. Other programs add lines at the top, for example to switch off linters. */
const MARK_WITHIN = 5;

/** Returns whether the file has the first line that every version of setup writes. That line marks the file as written by setup. */
function hasMark(text: string, entry: WholeEntry): boolean {
  const [mark] = entry.text.split('\n', 1);
  return text.split('\n', MARK_WITHIN).some((line) => line.trim() === mark);
}

const notOurs = (file: string): CliError =>
  new CliError(
    'NOT_OURS',
    `${file} was not written by setup, and setup would have to replace it. Nothing was changed.`,
    'Move the file away, then run this again.',
  );
