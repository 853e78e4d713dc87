import { z } from 'zod';
import { contract, READ } from '../../kernel/contract.ts';
import { SETTING_KEYS } from './definitions.ts';

const settingView = z.strictObject({
  key: z.enum(SETTING_KEYS),
  title: z.string(),
  value: z.number(),
  default: z.number(),
  is_default: z.boolean(),
  min: z.number(),
  max: z.number(),
  updated_at: z.int().nullable(),
  updated_by: z.string().nullable(),
});

export type Setting = z.output<typeof settingView>;

export const settingsList = contract({
  name: 'settings.list',
  toolset: 'admin',
  access: 'member',
  title: 'Settings of the workspace',
  description: 'Each setting with its value, its default and its bounds.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(settingView) }),
  annotations: READ,
});

export const settingsSet = contract({
  name: 'settings.set',
  toolset: 'admin',
  title: 'Change a setting',
  description: 'Sets one setting, or with null goes back to its default. It holds from the next call on.',
  input: z.strictObject({ key: z.enum(SETTING_KEYS), value: z.number().nullable() }),
  output: settingView,
  annotations: { idempotentHint: true },
});
