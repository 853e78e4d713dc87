import type { dismissByHand, listOverlaps } from '../../../features/team/overlap/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type CliCommand, option, UsageError } from '../command.ts';
import { age, table } from '../output.ts';

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

type Settings = Record<(typeof FIGURES)[keyof typeof FIGURES], number>;

interface Configured {
  settings: Settings;
  defaults: Settings;
  own: boolean;
}

interface Answers {
  'overlap.list': Output<typeof listOverlaps>;
  'overlap.dismiss': Output<typeof dismissByHand>;
}

const ask = asking<Answers>();

const words = ({ settings, defaults }: Configured): string =>
  Object.entries(FIGURES)
    .map(([name, key]) => `${name.padEnd(16)} ${settings[key]}${settings[key] === defaults[key] ? '' : ` (default ${defaults[key]})`}`)
    .join('\n');

/** From which score on work is warned of, from which it needs a verdict, and what makes the score: see docs/overlap.md. */
export const overlapCommands: readonly CliCommand[] = [
  {
    name: 'overlap list',
    summary: 'Work that looked like other work, newest first; with --open what nobody has resolved.',
    options: { open: { type: 'boolean' } },
    async run(invocation) {
      const { items, more } = await ask(invocation, 'overlap.list', invocation.values.open === true ? { open: true } : {});
      const now = Date.now();
      const rows = items.map((overlap) => [
        overlap.warning_id,
        overlap.level,
        overlap.verdict ?? overlap.status,
        age(overlap.created_at, now),
        `${overlap.developer}: ${overlap.title} / ${overlap.matches[0]?.owner ?? '—'}: ${overlap.matches[0]?.title ?? '—'}`,
      ]);
      const none = invocation.values.open === true ? 'No overlap waits for a judgement.' : 'No two pieces of work have looked alike yet.';
      const text = items.length === 0 ? none : table(['OVERLAP', 'LEVEL', 'VERDICT', 'AGE', 'PAIR'], rows);
      return { json: { kind: 'overlap_list', items, more }, text: `${text}${more ? `\n(the newest ${items.length})` : ''}` };
    },
  },
  {
    name: 'overlap dismiss',
    summary: 'Dismiss an overlap, with a reason. Who starts the work still has to give a verdict where one is required.',
    positionals: ['ID'],
    options: { reason: { type: 'string' } },
    async run(invocation) {
      const reason = option(invocation, 'reason');
      if (!reason) throw new UsageError('--reason is needed');
      const dismissed = await ask(invocation, 'overlap.dismiss', { warning_id: invocation.positionals[0], reason });
      return { json: { kind: 'overlap_dismissed', ...dismissed }, text: `Dismissed ${dismissed.warning_id}.` };
    },
  },
  {
    name: 'overlap show',
    summary: 'The thresholds and weights of the overlap check in this workspace.',
    async run(invocation) {
      const answer = (await (await invocation.client()).action('overlap.configure')) as unknown as Configured;
      return { json: { kind: 'overlap', ...answer }, text: words(answer) };
    },
  },
  {
    name: 'overlap set',
    summary: "Set this workspace's own thresholds and weights, or go back to the defaults with --reset.",
    options: { ...Object.fromEntries(Object.keys(FIGURES).map((name) => [name, { type: 'string' } as const])), reset: { type: 'boolean' } },
    async run(invocation) {
      const wanted: Record<string, number | true> = invocation.values.reset === true ? { reset: true } : {};
      for (const [name, key] of Object.entries(FIGURES)) {
        const text = option(invocation, name);
        if (text === undefined) continue;
        if (text.trim() === '' || !Number.isFinite(Number(text))) throw new UsageError(`--${name} is not a number`);
        wanted[key] = Number(text);
      }
      if (Object.keys(wanted).length === 0) throw new UsageError(`--reset or a figure is needed: ${Object.keys(FIGURES).join(', ')}`);
      const answer = (await (await invocation.client()).action('overlap.configure', wanted)) as unknown as Configured;
      return { json: { kind: 'overlap', ...answer }, text: words(answer) };
    },
  },
];
