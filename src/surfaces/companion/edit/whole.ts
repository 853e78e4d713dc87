import { CliError } from '../../cli/command.ts';
import type { Editor, WholeEntry } from './entry.ts';

export const whole: Editor<WholeEntry> = {
  state(text, entry, file) {
    if (text === '') return 'missing';
    if (text === entry.text || entry.isDefault) return 'good';
    if (!text.startsWith(markOf(entry))) throw notOurs(file);
    return 'stale';
  },
  put: (_text, entry) => ({ text: entry.text }),
  take: (text, { entry }) => (text === entry.text ? '' : undefined),
};

/** The first line, which every version of it has. */
const markOf = ({ text }: WholeEntry): string => text.slice(0, text.indexOf('\n') + 1);

const notOurs = (file: string): CliError =>
  new CliError('NOT_OURS', `${file} was not written by setup, which would replace it. Nothing was changed.`, 'Move it away; then run this again.');
