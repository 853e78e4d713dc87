import type { WaitingItem } from '../../api.ts';
import { useRead } from '../../queries.ts';
import type { NowSearch } from '../../search.ts';

/** The list is polled, because no event reports that an item has expired. */
const POLL_MS = 30_000;

export function useWaiting() {
  const { data, error, refetch } = useRead('waiting.list', {}, { pollMs: POLL_MS });
  return { items: data?.items ?? [], isRead: data !== undefined || error !== null, isCut: data?.cut === true, error, refetch };
}

interface WaitingKind {
  readonly label: string;
  readonly button: string;
  /** Returns what a click opens: the search parameters of a panel beside the list, or the address of another page. */
  readonly opens: (id: string) => NowSearch | string;
  /** Text that is added after the sentence about the item. */
  readonly hint?: (id: string) => string;
}

export const WAITING_KINDS: Record<WaitingItem['kind'], WaitingKind> = {
  question: { label: 'question', button: 'Answer', opens: (id) => ({ question: id }) },
  call: { label: 'held call', button: 'Decide', opens: (id) => ({ approval: id }) },
  ask: { label: 'ask', button: 'Answer', opens: (id) => ({ ask: id }) },
  handoff: { label: 'handoff', button: 'Open', opens: (id) => `/messages?message=${id}` },
  review: { label: 'review limit', button: 'Decide', opens: (id) => `/reviews/${id}`, hint: () => ': allow one more review, accept the work, or abandon it' },
  overlap: { label: 'overlap', button: 'Judge', opens: (id) => ({ overlap: id }) },
  definition: { label: 'changed tool', button: 'Review', opens: () => '/tools/changes' },
  device: {
    label: 'device',
    button: 'Review',
    opens: (code) => `/setup/authorize?code=${encodeURIComponent(code)}`,
    hint: (code) => `, code ${code}`,
  },
};

export const sentenceOf = ({ kind, id, sentence }: WaitingItem): string => sentence + (WAITING_KINDS[kind].hint?.(id) ?? '');
