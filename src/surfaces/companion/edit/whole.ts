import type { WholeEntry } from '../../../clients/client.ts';
import { CliError } from '../../cli/command.ts';
import type { Editor } from './entry.ts';

/** Files that setup owns completely. */
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

/** Git may convert line endings to Windows line endings. */
const isSame = (text: string, entry: WholeEntry): boolean => text.replaceAll('\r\n', '\n') === entry.text;

/** Other programs add lines at the top, for example to switch off linters. */
const MARK_WITHIN = 5;

/** The first line that every version of setup writes. */
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
