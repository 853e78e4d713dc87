import { type Category, categoryOf } from './category.ts';

export interface ActivitySearch {
  category?: Category;
  /** The event whose panel is open. */
  event?: number;
}

export function activitySearch(search: Record<string, unknown>): ActivitySearch {
  const category = categoryOf(search.category);
  const event = typeof search.event === 'number' && Number.isSafeInteger(search.event) && search.event > 0 ? search.event : undefined;
  return { ...(category && { category }), ...(event && { event }) };
}
