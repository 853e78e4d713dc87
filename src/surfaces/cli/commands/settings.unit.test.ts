import { expect, test } from 'vitest';
import type { Invocation } from '../command.ts';
import { UsageError } from '../command.ts';
import { settingCommands } from './settings.ts';

const SETTING = {
  key: 'review.max_iterations',
  title: 'Maximum reviews per instance',
  value: 5,
  default: 3,
  is_default: false,
  min: 1,
  max: 100,
  switch: null,
};
const SWITCH = {
  key: 'hooks.fail_closed',
  title: 'Edits wait',
  value: 1,
  default: 0,
  is_default: false,
  min: 0,
  max: 1,
  switch: { on: 'They wait.', off: 'They go on.' },
};

async function ran(name: string, ...positionals: string[]) {
  const setting = positionals[0] === SWITCH.key ? SWITCH : SETTING;
  const asked: unknown[] = [];
  const client = {
    async action(action: string, input: unknown) {
      asked.push([action, input]);
      return action === 'settings.list' ? { items: [SETTING, SWITCH] } : setting;
    },
  };
  const command = settingCommands.find((one) => one.name === name);
  const result = await command?.run({ positionals, out: { columns: Number.POSITIVE_INFINITY }, client: async () => client } as unknown as Invocation);
  return { asked, ...result };
}

test('lists settings with their bounds, sets a setting to a number, and sets it back to its default', async () => {
  expect(await ran('settings list')).toMatchObject({
    asked: [['settings.list', {}]],
    json: { kind: 'setting_list', items: [SETTING, SWITCH] },
    text: expect.stringMatching(
      /^NAME .*\nreview\.max_iterations {2}5 {6}3 {8}1 to 100 {3}Maximum reviews per instance\nhooks\.fail_closed {6}on {5}off {6}on or off {2}Edits wait$/,
    ),
  });
  const set = await ran('settings set', 'review.max_iterations', '5');
  expect(set).toMatchObject({ asked: [['settings.set', { key: 'review.max_iterations', value: 5 }]], json: { kind: 'setting', value: 5 } });
  expect(set.text).toBe('review.max_iterations is 5 (default 3).');
  expect((await ran('settings reset', 'review.max_iterations')).asked).toEqual([['settings.set', { key: 'review.max_iterations', value: null }]]);
  for (const value of ['many', '', 'Infinity']) await expect(ran('settings set', 'review.max_iterations', value)).rejects.toThrow(UsageError);
});

test('sets a switch with on, off or default, and prints what the new value means', async () => {
  for (const [typed, value] of [
    ['on', 'on'],
    ['off', 'off'],
    ['1', 1],
    ['default', null],
    ['null', null],
  ] as const) {
    expect((await ran('settings set', SWITCH.key, typed)).asked).toEqual([['settings.set', { key: SWITCH.key, value }]]);
  }
  expect((await ran('settings set', SWITCH.key, 'on')).text).toBe('hooks.fail_closed is on (default off).\nThey wait.');
  await expect(ran('settings set', SWITCH.key, 'yes')).rejects.toThrow('`VALUE` must be a number, on, off or default');
});
