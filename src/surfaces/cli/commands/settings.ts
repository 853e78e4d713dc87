import type { Setting, settingsList, settingsSet } from '../../../features/settings/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type Command, type Invocation, UsageError } from '../command.ts';
import { table } from '../output.ts';

const ask = asking<{ 'settings.list': Output<typeof settingsList>; 'settings.set': Output<typeof settingsSet> }>();

const words = ({ key, value, default: usual, is_default }: Setting) => `${key} is ${value}${is_default ? ' (the default)' : ` (default ${usual})`}.`;

async function change(invocation: Invocation, value: number | null) {
  const setting = await ask(invocation, 'settings.set', { key: invocation.positionals[0], value });
  return { json: { kind: 'setting', ...setting }, text: words(setting) };
}

function number(text: string): number {
  if (text.trim() === '' || !Number.isFinite(Number(text))) throw new UsageError('VALUE is not a number');
  return Number(text);
}

/** The bounds of the review loop. */
export const settingCommands: readonly Command[] = [
  {
    name: 'settings list',
    summary: 'The settings of the workspace, with their defaults and bounds.',
    async run(invocation) {
      const { items } = await ask(invocation, 'settings.list');
      const rows = items.map(({ key, value, default: usual, min, max, title }) => [key, String(value), String(usual), `${min} to ${max}`, title]);
      return { json: { kind: 'setting_list', items }, text: table(['KEY', 'VALUE', 'DEFAULT', 'BOUNDS', 'WHAT IT IS'], rows) };
    },
  },
  {
    name: 'settings set',
    summary: 'Change a setting; it holds from the next call on.',
    positionals: ['KEY', 'VALUE'],
    run: (invocation) => change(invocation, number(invocation.positionals[1] as string)),
  },
  {
    name: 'settings reset',
    summary: 'Go back to the default of a setting.',
    positionals: ['KEY'],
    run: (invocation) => change(invocation, null),
  },
];
