import { z } from 'zod';
import { contract, MEMBER_READ } from '../../../kernel/contract.ts';

/** A setting of a workspace. No setting is a secret. */
export interface SettingDefinition {
  readonly title: string;
  /** Null: nothing is set. */
  readonly default: number | null;
  readonly min: number;
  readonly max: number;
  /** Only whole numbers. */
  readonly whole: boolean;
  /** 1 is on and 0 is off, and this is what each means. */
  readonly switch?: { readonly on: string; readonly off: string };
}

export const DEFINITIONS = {
  'review.max_iterations': { title: 'Reviews that an instance may run', default: 3, min: 1, max: 100, whole: true },
  'review.auto_abandon_after': { title: 'Failed reviews after which an instance is abandoned', default: 5, min: 1, max: 1_000, whole: true },
  'review.timeout_hours': { title: 'Hours after which a review is stuck', default: 24, min: 0.1, max: 8_760, whole: false },
  'retention.days': { title: 'Days after which what is over is deleted', default: null, min: 31, max: 36_500, whole: true },
  'hooks.fail_closed': {
    title: 'Edits wait while the hooks of an agent cannot reach this server',
    default: 0,
    min: 0,
    max: 1,
    whole: true,
    switch: {
      on: 'Where this server cannot be reached, hooks let no edit, commit or push pass until it answers again. A server that is down then stops all work.',
      off: 'Where this server cannot be reached, agents go on without its rules, and are told so once.',
    },
  },
} as const satisfies Record<string, SettingDefinition>;
export type SettingKey = keyof typeof DEFINITIONS;
export const SETTING_KEYS = Object.keys(DEFINITIONS) as SettingKey[];

const settingView = z.strictObject({
  key: z.enum(SETTING_KEYS),
  title: z.string(),
  value: z.number().nullable().describe('Null: nothing is set.'),
  default: z.number().nullable(),
  is_default: z.boolean(),
  min: z.number(),
  max: z.number(),
  switch: z.strictObject({ on: z.string(), off: z.string() }).nullable().describe('What on (1) and off (0) mean; null of a number.'),
  updated_at: z.int().nullable(),
  updated_by: z.string().nullable(),
});

export type SettingView = z.output<typeof settingView>;

export const settingsList = contract({
  ...MEMBER_READ,
  name: 'settings.list',
  title: 'Settings of the workspace',
  description: 'Each setting with its value, its default and its bounds.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(settingView) }),
});

export const settingsSet = contract({
  name: 'settings.set',
  toolset: 'admin',
  title: 'Change a setting',
  description: 'Sets one setting, or with null goes back to its default. It holds from the next call on.',
  input: z.strictObject({
    key: z.enum(SETTING_KEYS),
    value: z
      .union([z.number(), z.enum(['on', 'off'])], { error: 'expected a number, "on" or "off", or null for the default' })
      .nullable()
      .describe('A number, on or off for a switch, null for the default.'),
  }),
  output: settingView,
  annotations: { idempotentHint: true },
});

/** Kinds of tokens that call tools. A browser's sign-in, `web`, calls none by itself. */
export const TOKEN_KINDS = ['operator', 'developer', 'agent', 'instance'] as const;

export const rolesList = contract({
  ...MEMBER_READ,
  name: 'roles.list',
  title: 'Who may what',
  description: 'Every action with the role that it needs, and every toolset with the tokens that may call it from the start.',
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
  title: 'What is kept how long',
  description: 'What this server stores, and how long it stays once it is over.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(z.strictObject({ what: z.string(), ms: z.int().nullable().describe('Null: for good.') })) }),
});
