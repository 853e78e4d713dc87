/** What a workspace can set. None of them is a secret. */
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
