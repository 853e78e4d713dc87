import type { settingsSet } from '../../../features/core/settings/contract.ts';
import type { Sent } from '../../../kernel/contract.ts';
import { calling, type ItemOf } from '../call.ts';
import { type CliCommand, UsageError } from '../command.ts';
import { table } from '../output.ts';

type Setting = ItemOf<'settings.list'>;

/** A switch is shown as on or off. */
const shown = (setting: Setting, value: number | null): string => (setting.switch ? POSITIONS[value === 1 ? 1 : 0] : String(value ?? 'not set'));
const POSITIONS = ['off', 'on'] as const;

function words(setting: Setting): string {
  const { key, value, is_default, switch: positions } = setting;
  const origin = is_default ? 'the default' : `default ${shown(setting, setting.default)}`;
  const means = positions ? `\n${value === 1 ? positions.on : positions.off}` : '';
  return `${key} is ${shown(setting, value)} (${origin}).${means}`;
}

type SettingValue = Sent<typeof settingsSet>['value'];

/** The server knows whether the setting is a number or a switch. */
function settingValueOf(text: string): SettingValue {
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
  calling({
    name: 'settings set',
    summary: 'Change a setting, to a number, on or off; it holds from the next call on.',
    action: 'settings.set',
    positionals: { KEY: 'key', VALUE: 'value' },
    input: ({ positionals }) => ({ value: settingValueOf(positionals[1] as string) }),
    kind: 'setting',
    text: words,
  }),
  calling({
    name: 'settings reset',
    summary: 'Go back to the default of a setting.',
    action: 'settings.set',
    positionals: { KEY: 'key' },
    input: () => ({ value: null }),
    kind: 'setting',
    text: words,
  }),
];
