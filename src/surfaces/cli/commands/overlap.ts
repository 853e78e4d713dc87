import { type Command, option, UsageError } from '../command.ts';

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

const words = ({ settings, defaults }: Configured): string =>
  Object.entries(FIGURES)
    .map(([name, key]) => `${name.padEnd(16)} ${settings[key]}${settings[key] === defaults[key] ? '' : ` (default ${defaults[key]})`}`)
    .join('\n');

/** From which score on work is warned of, from which it needs a verdict, and what makes the score: see docs/overlap.md. */
export const overlapCommands: readonly Command[] = [
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
