import { type AnswerTo, calling } from '../call.ts';
import { type CliCommand, numberOption, option, UsageError } from '../command.ts';
import { age, list } from '../output.ts';

/** Each option, and the setting that it is. */
const FIGURES = {
  warn: 'warn',
  escalate: 'escalate',
  'text-weight': 'text_weight',
  'file-weight': 'file_weight',
  'meaning-weight': 'meaning_weight',
  'meaning-evidence': 'meaning_evidence',
  'meaning-floor': 'meaning_floor',
} as const;

const figures = ({ settings, defaults }: AnswerTo<'overlap.configure'>): string =>
  Object.entries(FIGURES)
    .map(([name, key]) => `${name.padEnd(16)} ${settings[key]}${settings[key] === defaults[key] ? '' : ` (default ${defaults[key]})`}`)
    .join('\n');

/** From which score on work is warned of, from which it needs a verdict, and what makes the score: see docs/overlap.md. */
export const overlapCommands: readonly CliCommand[] = [
  calling({
    name: 'overlap list',
    summary: 'Work that looked like other work, newest first; with --open what nobody has resolved.',
    options: { open: { type: 'boolean' } },
    action: 'overlap.list',
    input: ({ values }) => (values.open === true ? { open: true } : {}),
    kind: 'overlap_list',
    only: ['items', 'more'],
    text({ items, more }, { values }) {
      const rows = items.map((overlap) => [
        overlap.warning_id,
        overlap.level,
        overlap.verdict ?? overlap.status,
        age(overlap.created_at),
        `${overlap.developer}: ${overlap.title} / ${overlap.matches[0]?.owner ?? '—'}: ${overlap.matches[0]?.title ?? '—'}`,
      ]);
      const none = values.open === true ? 'No overlap waits for a judgement.' : 'No two pieces of work have looked alike yet.';
      return `${list(['OVERLAP', 'LEVEL', 'VERDICT', 'AGE', 'PAIR'], rows, none)}${more ? `\n(the newest ${items.length})` : ''}`;
    },
  }),
  calling({
    name: 'overlap dismiss',
    summary: 'Dismiss an overlap, with a reason. Who starts the work still has to give a verdict where one is required.',
    positionals: { ID: 'warning_id' },
    options: { reason: { type: 'string' } },
    action: 'overlap.dismiss',
    input(invocation) {
      const reason = option(invocation, 'reason');
      if (!reason) throw new UsageError('--reason is needed');
      return { reason };
    },
    kind: 'overlap_dismissed',
    text: ({ warning_id }) => `Dismissed ${warning_id}.`,
  }),
  calling({
    name: 'overlap show',
    summary: 'The thresholds and weights of the overlap check in this workspace.',
    action: 'overlap.configure',
    kind: 'overlap',
    text: figures,
  }),
  calling({
    name: 'overlap set',
    summary: "Set this workspace's own thresholds and weights, or go back to the defaults with --reset.",
    options: { ...Object.fromEntries(Object.keys(FIGURES).map((name) => [name, { type: 'string' } as const])), reset: { type: 'boolean' } },
    action: 'overlap.configure',
    input(invocation) {
      const wanted: Record<string, number | true> = invocation.values.reset === true ? { reset: true } : {};
      for (const [name, key] of Object.entries(FIGURES)) {
        const figure = numberOption(invocation, name);
        if (figure !== undefined) wanted[key] = figure;
      }
      if (Object.keys(wanted).length === 0) throw new UsageError(`--reset or a figure is needed: ${Object.keys(FIGURES).join(', ')}`);
      return wanted;
    },
    kind: 'overlap',
    text: figures,
  }),
];
