/** What on Now is open beside the list. */
export interface NowSearch {
  question?: string;
  approval?: string;
  ask?: string;
  overlap?: string;
}

const OPENED = ['question', 'approval', 'ask', 'overlap'] as const;

export const nowSearch = (given: Record<string, unknown>): NowSearch =>
  Object.fromEntries(OPENED.flatMap((name) => (typeof given[name] === 'string' && given[name] !== '' ? [[name, given[name]]] : [])));
