import type { settingsSet } from '../../../features/core/settings/contract.ts';
import type { Sent } from '../../../kernel/contract.ts';
import { type AnswerTo, call, calling, type ItemOf } from '../ask.ts';
import { type CliCommand, type Invocation, numberOption, option, UsageError } from '../command.ts';
import { age, list, table } from '../output.ts';

/** A switch is on or off, for people; what it means follows. */
const shown = (setting: ItemOf<'settings.list'>, value: number | null): string =>
  setting.switch ? POSITIONS[value === 1 ? 1 : 0] : String(value ?? 'not set');
const POSITIONS = ['off', 'on'] as const;

function words(setting: ItemOf<'settings.list'>): string {
  const { key, value, is_default, switch: positions } = setting;
  const origin = is_default ? 'the default' : `default ${shown(setting, setting.default)}`;
  const means = positions ? `\n${value === 1 ? positions.on : positions.off}` : '';
  return `${key} is ${shown(setting, value)} (${origin}).${means}`;
}

async function change(invocation: Invocation, value: SettingValue) {
  const setting = await call(invocation, 'settings.set', { key: invocation.positionals[0], value });
  return { json: { kind: 'setting', ...setting }, text: words(setting) };
}

type SettingValue = Sent<typeof settingsSet>['value'];

/** Whether a setting is a number or a switch the server knows. */
function wanted(text: string): SettingValue {
  if (text === 'on' || text === 'off') return text;
  if (text === 'null') return null;
  if (text.trim() === '' || !Number.isFinite(Number(text))) throw new UsageError('VALUE is not a number, on, off or null');
  return Number(text);
}

export const settingCommands: readonly CliCommand[] = [
  calling({
    name: 'settings list',
    summary: 'The settings of the workspace, with their defaults and bounds.',
    action: 'settings.list',
    kind: 'setting_list',
    text({ items }) {
      const rows = items.map((setting) => {
        const bounds = setting.switch ? 'on or off' : `${setting.min} to ${setting.max}`;
        return [setting.key, shown(setting, setting.value), shown(setting, setting.default), bounds, setting.title];
      });
      return table(['KEY', 'VALUE', 'DEFAULT', 'BOUNDS', 'WHAT IT IS'], rows);
    },
  }),
  {
    name: 'settings set',
    summary: 'Change a setting, to a number, on or off; it holds from the next call on.',
    positionals: ['KEY', 'VALUE'],
    run: (invocation) => change(invocation, wanted(invocation.positionals[1] as string)),
  },
  {
    name: 'settings reset',
    summary: 'Go back to the default of a setting.',
    positionals: ['KEY'],
    run: (invocation) => change(invocation, null),
  },
];

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
