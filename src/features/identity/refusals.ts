import type { House } from '../../kernel/context.ts';
import { DEFAULT_WORKSPACE_ID } from '../../kernel/workspace.ts';
import type { NewEvent } from '../../storage/journal.ts';

const ONE_BY_ONE = 10;
const WINDOW_MS = 60_000;
/** Sources beyond this many in one window are counted together: an attacker can invent addresses without end. */
const MAX_SOURCES = 1_000;

interface Window {
  since: number;
  count: number;
}

/**
 * Journals requests that reached no principal or made no sense: the first few a minute from each source one by one, the
 * rest as one counted event, so that nobody can fill the journal without a token.
 */
export interface RefusalRecorder {
  record(source: string, event: Omit<NewEvent, 'actor'>): Promise<void>;
  /** Writes the counted events of windows that are over; of all windows when the server stops. */
  flush(all?: boolean): Promise<void>;
}

export function createRefusalRecorder({ store, clock, log }: House): RefusalRecorder {
  const windows = new Map<string, Window>();

  const append = async (events: NewEvent[]) => {
    if (events.length === 0) return;
    await store.append(DEFAULT_WORKSPACE_ID, events).catch((error) => log.error('refusal not journaled', { error }));
  };

  const counted = (source: string, { since, count }: Window): NewEvent[] =>
    count > ONE_BY_ONE ? [{ category: 'usage', kind: 'requests_refused', actor: 'anonymous', payload: { source, since, count: count - ONE_BY_ONE } }] : [];

  return {
    async record(source, event) {
      const now = clock.now();
      const key = windows.has(source) || windows.size < MAX_SOURCES ? source : 'others';
      const open = windows.get(key);
      const over = open && now - open.since >= WINDOW_MS;
      const window = !open || over ? { since: now, count: 0 } : open;
      windows.set(key, window);
      window.count++;
      const own: NewEvent[] = window.count <= ONE_BY_ONE ? [{ ...event, actor: 'anonymous', payload: { source, ...event.payload } }] : [];
      await append([...(open && over ? counted(key, open) : []), ...own]);
    },
    async flush(all = false) {
      const now = clock.now();
      const ended = [...windows].filter(([, window]) => all || now - window.since >= WINDOW_MS);
      for (const [source] of ended) windows.delete(source);
      await append(ended.flatMap(([source, window]) => counted(source, window)));
    },
  };
}
