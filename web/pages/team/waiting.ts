import type { WaitingItem } from '../../api.ts';
import { useRead } from '../../queries.ts';
import type { NowSearch } from '../../search.ts';

/** Items also expire, and no event reports that. */
const POLL_MS = 30_000;

export function useWaiting() {
  const { data, error, refetch } = useRead('waiting.list', {}, { pollMs: POLL_MS });
  return { items: data?.items ?? [], isRead: data !== undefined || error !== null, isCut: data?.cut === true, error, refetch };
}

interface WaitingKind {
  readonly label: string;
  readonly button: string;
  /** Opened beside the list, or on a page of its own. */
  readonly opens: (id: string) => NowSearch | string;
  /** Added to the sentence. */
  readonly hint?: (id: string) => string;
}

export const WAITING_KINDS: Record<WaitingItem['kind'], WaitingKind> = {
  question: { label: 'question', button: 'Answer', opens: (id) => ({ question: id }) },
  call: { label: 'held call', button: 'Decide', opens: (id) => ({ approval: id }) },
  ask: { label: 'ask', button: 'Answer', opens: (id) => ({ ask: id }) },
  handoff: { label: 'handoff', button: 'Open', opens: (id) => `/messages?message=${id}` },
  review: { label: 'spent review', button: 'Decide', opens: (id) => `/reviews/${id}`, hint: () => ': allow one more, take it as it is, or give it up' },
  overlap: { label: 'overlap', button: 'Judge', opens: (id) => ({ overlap: id }) },
  definition: { label: 'changed tool', button: 'Look', opens: () => '/tools/changes' },
  device: {
    label: 'device',
    button: 'Look',
    opens: (code) => `/setup/authorize?code=${encodeURIComponent(code)}`,
    hint: (code) => `, with the code ${code}`,
  },
};

export const sentenceOf = ({ kind, id, sentence }: WaitingItem): string => sentence + (WAITING_KINDS[kind].hint?.(id) ?? '');
