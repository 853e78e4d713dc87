/** What a workspace can set. None of them is a secret. */
export interface Definition {
  readonly title: string;
  readonly default: number;
  readonly min: number;
  readonly max: number;
  /** Only whole numbers. */
  readonly whole: boolean;
}

export const DEFINITIONS = {
  'review.max_iterations': { title: 'Reviews that an instance may run', default: 3, min: 1, max: 100, whole: true },
  'review.auto_abandon_after': { title: 'Failed reviews after which an instance is abandoned', default: 5, min: 1, max: 1_000, whole: true },
  'review.timeout_hours': { title: 'Hours after which a review is stuck', default: 24, min: 0.1, max: 8_760, whole: false },
} as const satisfies Record<string, Definition>;
export type SettingKey = keyof typeof DEFINITIONS;
export const SETTING_KEYS = Object.keys(DEFINITIONS) as SettingKey[];
