import type { Arguments } from '../../api.ts';

type Keys = NonNullable<Arguments<'usage.list'>['by']>;

/** What a row stands for, and what the server sums by for it. */
export const GROUPINGS = {
  agent: { label: 'agent', keys: ['developer', 'agent', 'model'] },
  day: { label: 'day', keys: ['day', 'developer', 'agent', 'model'] },
  task: { label: 'task', keys: ['task', 'developer', 'agent', 'model'] },
  developer: { label: 'developer', keys: ['developer', 'model'] },
} as const satisfies Record<string, { label: string; keys: Keys }>;
export type Grouping = keyof typeof GROUPINGS;

export const SPANS = { '7': '7 days', '90': '90 days', '366': '366 days' } as const;
const USUAL_DAYS = 30;

/** What the address holds; what is not said is the usual. */
export interface UsageSearch {
  by?: Grouping;
  days?: number;
  /** What the bars are stacked of. */
  bars?: 'agent';
  measure?: 'tokens';
  /** The dialog of prices is open. */
  prices?: true;
}

export function usageSearch(search: Record<string, unknown>): UsageSearch {
  const by = Object.hasOwn(GROUPINGS, String(search.by)) ? (search.by as Grouping) : undefined;
  return {
    ...(by && by !== 'agent' && { by }),
    ...(typeof search.days === 'number' && Object.hasOwn(SPANS, search.days) && { days: search.days }),
    ...(search.bars === 'agent' && { bars: 'agent' as const }),
    ...(search.measure === 'tokens' && { measure: 'tokens' as const }),
    ...(search.prices === true && { prices: true as const }),
  };
}

export const daysOf = ({ days }: UsageSearch): number => days ?? USUAL_DAYS;
