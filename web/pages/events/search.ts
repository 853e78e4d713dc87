import type { Arguments } from '../../api.ts';
import { categoryOf } from './category.ts';

/** Which events are listed: all fields of the journal's own filter. */
export type EventFilter = Omit<Arguments<'events.list'>, 'after' | 'before' | 'latest' | 'limit'>;

export interface ActivitySearch extends EventFilter {
  /** The event whose panel is open. */
  event?: number;
  /** How far back the chart goes; an hour where nothing is said. */
  chart?: 'day';
}

export const TEXT_FIELDS = ['text', 'kind', 'actor', 'subject', 'session'] as const;

/** What looks like a number in the address is text here all the same. */
const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value).trim() : '';
  return text === '' ? undefined : text;
};

export function filterOf(search: Record<string, unknown>): EventFilter {
  const category = categoryOf(search.category);
  const texts = [...TEXT_FIELDS, 'outcome' as const].flatMap((name) => {
    const text = textOf(search[name]);
    return text === undefined ? [] : [[name, text] as const];
  });
  return { ...(category && { category }), ...Object.fromEntries(texts) };
}

export function activitySearch(search: Record<string, unknown>): ActivitySearch {
  const event = typeof search.event === 'number' && Number.isSafeInteger(search.event) && search.event > 0 ? search.event : undefined;
  return { ...filterOf(search), ...(event && { event }), ...(search.chart === 'day' && { chart: 'day' }) };
}
