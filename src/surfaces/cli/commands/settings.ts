import type { settingsSet } from '../../../features/core/settings/contract.ts';
import type { Sent } from '../../../kernel/contract.ts';
import { calling, type ItemOf } from '../call.ts';
import { type CliCommand, UsageError } from '../command.ts';
import { type TableShape, table } from '../output.ts';

type Setting = ItemOf<'settings.list'>;

/** Shows a switch as on or off. */
const shown = (setting: Setting, value: number | null): string => (setting.switch ? POSITIONS[value === 1 ? 1 : 0] : String(value ?? 'not set'));
const POSITIONS = ['off', 'on'] as const;

function words(setting: Setting): string {
  const { key, value, is_default, switch: positions } = setting;
  const origin = is_default ? 'the default' : `default ${shown(setting, setting.default)}`;
  const means = positions ? `\n${value === 1 ? positions.on : positions.off}` : '';
  return `${key} is ${shown(setting, value)} (${origin}).${means}`;
}

type SettingValue = Sent<typeof settingsSet>['value'];

/** Converts the typed text to a value. The server checks whether the value fits the setting. `null` is an earlier spelling of `default`. */
function settingValueOf(text: string): SettingValue {
  if (text === 'on' || text === 'off') return text;
  if (text === 'default' || text === 'null') return null;
  if (text.trim() === '' || !Number.isFinite(Number(text))) throw new UsageError('`VALUE` must be a number, on, off or default');
  return Number(text);
}

const SETTINGS: TableShape = {
  head: ['NAME', 'VALUE', 'DEFAULT', 'BOUNDS', 'DESCRIPTION'],
  narrow: [
    ['BOUNDS', 0],
    ['DESCRIPTION', 16],
    ['DEFAULT', 0],
  ],
};
const NAME = { name: 'NAME', description: 'The name of the setting. `covenant settings list` prints all names.', field: 'key' } as const;

export const settingCommands: readonly CliCommand[] = [
  calling({
    name: 'settings list',
    summary: 'List the settings of the workspace with their defaults.',
    examples: ['settings list'],
    action: 'settings.list',
    kind: 'setting_list',
    text({ items }, { out }) {
      const rows = items.map((setting) => {
        const bounds = setting.switch ? 'on or off' : `${setting.min} to ${setting.max}`;
        return [setting.key, shown(setting, setting.value), shown(setting, setting.default), bounds, setting.title];
      });
      return table(SETTINGS, rows, out.columns);
    },
  }),
  calling({
    name: 'settings set',
    summary: 'Change a setting. The new value applies from the next call.',
    action: 'settings.set',
    arguments: [NAME, { name: 'VALUE', description: 'A number, on, off or default.', field: 'value' }],
    examples: ['settings set review.timeout_hours 4', 'settings set hooks.fail_closed on', 'settings set review.timeout_hours default'],
    input: ({ positionals }) => ({ value: settingValueOf(positionals[1] as string) }),
    kind: 'setting',
    text: words,
  }),
  calling({
    name: 'settings reset',
    summary: 'Set a setting to its default.',
    hidden: true,
    action: 'settings.set',
    arguments: [NAME],
    examples: ['settings set review.timeout_hours default'],
    input: () => ({ value: null }),
    kind: 'setting',
    text: words,
  }),
];
