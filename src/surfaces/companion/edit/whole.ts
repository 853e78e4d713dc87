import type { Editor, WholeEntry } from './entry.ts';

export const whole: Editor<WholeEntry> = {
  state: (text, entry) => (text === '' ? 'missing' : text === entry.text || entry.isDefault ? 'good' : 'stale'),
  put: (_text, entry) => ({ text: entry.text }),
  take: (text, { entry }) => (text === entry.text ? '' : undefined),
};
