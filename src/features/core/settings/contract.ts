import { z } from 'zod';
import { contract, MEMBER_READ } from '../../../kernel/contract.ts';

/** A setting of a workspace. No setting is a secret. */
export interface SettingDefinition {
  readonly title: string;
  /** The default value. Null: the setting has no value by default. */
  readonly default: number | null;
  readonly min: number;
  readonly max: number;
  /** True if the value must be an integer. */
  readonly whole: boolean;
  /** For a setting that is on or off: what on (1) and off (0) mean. */
  readonly switch?: { readonly on: string; readonly off: string };
}

export const DEFINITIONS = {
  'review.max_iterations': { title: 'Maximum reviews per instance', default: 3, min: 1, max: 100, whole: true },
  'review.auto_abandon_after': { title: 'Failed reviews before an instance is abandoned', default: 5, min: 1, max: 1_000, whole: true },
  'review.timeout_hours': { title: 'Review timeout in hours', default: 24, min: 0.1, max: 8_760, whole: false },
  'retention.days': { title: 'Days to keep finished data', default: null, min: 31, max: 36_500, whole: true },
  'hooks.fail_closed': {
    title: 'Block edits while hooks cannot reach this server',
    default: 0,
    min: 0,
    max: 1,
    whole: true,
    switch: {
      on: 'While hooks cannot reach this server, they block every edit, commit and push. If the server is down, all work stops.',
      off: 'While hooks cannot reach this server, agents continue without its rules and are notified once.',
    },
  },
} as const satisfies Record<string, SettingDefinition>;
export type SettingKey = keyof typeof DEFINITIONS;
export const SETTING_KEYS = Object.keys(DEFINITIONS) as SettingKey[];

const settingView = z.strictObject({
  key: z.enum(SETTING_KEYS),
  title: z.string(),
  value: z.number().nullable().describe('Null: not set.'),
  default: z.number().nullable(),
  is_default: z.boolean(),
  min: z.number(),
  max: z.number(),
  switch: z.strictObject({ on: z.string(), off: z.string() }).nullable().describe('Meaning of on (1) and off (0); null for a number.'),
  updated_at: z.int().nullable(),
  updated_by: z.string().nullable(),
});

export type SettingView = z.output<typeof settingView>;

export const settingsList = contract({
  ...MEMBER_READ,
  name: 'settings.list',
  title: 'List settings',
  description: 'List the settings of the workspace with value, default and limits.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(settingView) }),
});

export const settingsSet = contract({
  name: 'settings.set',
  toolset: 'admin',
  title: 'Change a setting',
  description: 'Set a setting, or reset it to its default with null. Applies from the next call on.',
  input: z.strictObject({
    key: z.enum(SETTING_KEYS),
    value: z
      .union([z.number(), z.enum(['on', 'off'])], { error: 'expected a number, "on" or "off", or null for the default' })
      .nullable()
      .describe('A number, "on" or "off" for a switch, null for the default.'),
  }),
  output: settingView,
  annotations: { idempotentHint: true },
});

/** Kinds of tokens that can call tools. A browser's sign-in, `web`, cannot. */
export const TOKEN_KINDS = ['operator', 'developer', 'agent', 'instance'] as const;

export const rolesList = contract({
  ...MEMBER_READ,
  name: 'roles.list',
  title: 'List roles',
  description: 'List every action with the role that it requires, and every toolset with the token kinds that have it by default.',
  input: z.strictObject({}),
  output: z.strictObject({
    actions: z.array(
      z.strictObject({
        name: z.string(),
        title: z.string(),
        does: z.enum(['reads', 'changes', 'destroys']),
        access: z.enum(['member', 'operator', 'machine', 'server', 'token']),
      }),
    ),
    toolsets: z.array(z.strictObject({ toolset: z.string(), tools: z.array(z.string()), granted_to: z.array(z.enum(TOKEN_KINDS)) })),
  }),
});

export const retentionList = contract({
  ...MEMBER_READ,
  name: 'retention.list',
  title: 'List retention periods',
  description: 'List what this server stores, and how long finished data is kept.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(z.strictObject({ what: z.string(), ms: z.int().nullable().describe('Null: kept forever.') })) }),
});
