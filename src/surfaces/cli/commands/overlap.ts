import { type AnswerTo, calling } from '../call.ts';
import { type CliCommand, numberOption, option, UsageError } from '../command.ts';
import { age, list, type TableShape } from '../output.ts';

/** The options, each with the setting that it changes and with its description. */
const FIGURES = {
  warn: ['warn', 'The lowest score that causes a warning.'],
  escalate: ['escalate', 'The lowest score that requires a verdict.'],
  'text-weight': ['text_weight', 'The weight of similar titles and descriptions.'],
  'file-weight': ['file_weight', 'The weight of files that both pieces of work change.'],
  'meaning-weight': ['meaning_weight', 'The weight of similar meaning. It has an effect only if embeddings are on.'],
  'meaning-evidence': ['meaning_evidence', 'The lowest similarity of meaning, up to 1, that counts as evidence.'],
  'meaning-floor': ['meaning_floor', 'The similarity of meaning, up to 1, that gives a meaning score of 0.'],
} as const;

const OVERLAPS: TableShape = {
  head: ['OVERLAP', 'LEVEL', 'VERDICT', 'AGE', 'PAIR'],
  narrow: [
    ['PAIR', 24],
    ['LEVEL', 0],
    ['PAIR', 12],
  ],
};

const figures = ({ settings, defaults }: AnswerTo<'overlap.configure'>): string =>
  Object.entries(FIGURES)
    .map(([name, [key]]) => `${name.padEnd(16)} ${settings[key]}${settings[key] === defaults[key] ? '' : ` (default ${defaults[key]})`}`)
    .join('\n');

/** These commands show overlaps and change the settings of the overlap check. docs/overlap.md explains the score. */
export const overlapCommands: readonly CliCommand[] = [
  calling({
    name: 'overlap list',
    summary: 'List overlaps between pieces of work, newest first.',
    options: { open: { description: 'Only overlaps without a verdict.' } },
    examples: ['overlap list --open'],
    action: 'overlap.list',
    input: ({ values }) => (values.open === true ? { open: true } : {}),
    kind: 'overlap_list',
    only: ['items', 'more'],
    text({ items, more }, { values, out }) {
      const rows = items.map((overlap) => [
        overlap.warning_id,
        overlap.level,
        overlap.verdict ?? overlap.status,
        age(overlap.created_at),
        `${overlap.developer}: ${overlap.title} / ${overlap.matches[0]?.owner ?? '—'}: ${overlap.matches[0]?.title ?? '—'}`,
      ]);
      const none = values.open === true ? 'No overlap waits for a verdict.' : 'No overlap was found yet.';
      return `${list(OVERLAPS, rows, { none, columns: out.columns })}${more ? `\n(the newest ${items.length})` : ''}`;
    },
  }),
  calling({
    name: 'overlap dismiss',
    summary: 'Dismiss an overlap.',
    description: 'An agent that starts the work still has to give a verdict if one is required.',
    arguments: [{ name: 'ID', description: 'The overlap id, or the last characters of the id.', field: 'warning_id' }],
    options: { reason: { value: 'TEXT', description: 'The reason.', required: true } },
    examples: ['overlap dismiss 4KQ2ZP --reason "Different modules"'],
    action: 'overlap.dismiss',
    input: (invocation) => ({ reason: option(invocation, 'reason') }),
    kind: 'overlap_dismissed',
    text: ({ warning_id }) => `Dismissed ${warning_id}.`,
  }),
  calling({
    name: 'overlap show',
    summary: 'Show the thresholds and weights of the overlap check.',
    examples: ['overlap show'],
    action: 'overlap.configure',
    kind: 'overlap',
    text: figures,
  }),
  calling({
    name: 'overlap set',
    summary: 'Set the thresholds and weights of the overlap check.',
    options: {
      ...Object.fromEntries(Object.entries(FIGURES).map(([name, [, description]]) => [name, { value: 'N', description }])),
      default: { description: 'Set all thresholds and weights to their defaults.', formerly: 'reset' },
    },
    examples: ['overlap set --warn 0.5 --escalate 0.8', 'overlap set --default'],
    action: 'overlap.configure',
    input(invocation) {
      const wanted: Record<string, number | true> = invocation.values.default === true ? { reset: true } : {};
      for (const [name, [key]] of Object.entries(FIGURES)) {
        const figure = numberOption(invocation, name);
        if (figure !== undefined) wanted[key] = figure;
      }
      if (Object.keys(wanted).length === 0)
        throw new UsageError(
          `Give \`--default\` or at least one of ${Object.keys(FIGURES)
            .map((name) => `--${name}`)
            .join(', ')}`,
        );
      return wanted;
    },
    kind: 'overlap',
    text: figures,
  }),
];
