import type { Principal, Services } from '../../../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { addressGroup } from '../../../kernel/network.ts';
import type { NewEvent } from '../../../storage/journal.ts';

const ONE_BY_ONE = 10;
const WINDOW_MS = 60_000;
/** Sources beyond this many in one window are counted together: an attacker can invent addresses without end. */
const MAX_SOURCES = 1_000;

/** A caller: who it is, or the address of one whom nobody knows. */
type Source = Principal | string;

interface Window {
  readonly source: Source;
  readonly since: number;
  /** Journaled each for itself. */
  single: number;
  /** By code, those that are journaled as a number alone. */
  readonly counted: Map<string, number>;
}

/**
 * Journals refused requests without letting them fill the journal. Requests that reached no principal or made no sense: the
 * first few a minute from each source one by one, the rest as a number. Requests beyond a rate limit or quota: only as a
 * number, one event per token or address and minute.
 */
export interface RefusalRecorder {
  record(source: string, event: Omit<NewEvent, 'actor'>): Promise<void>;
  count(source: Source, code: string): void;
  /** Writes the events of windows that are over; of all windows when the server stops. */
  flush(all?: boolean): Promise<void>;
}

export function createRefusalRecorder({ store, clock, log }: Services): RefusalRecorder {
  const windows = new Map<string, Window>();
  /** Windows that were over before the sweep came by. */
  const over: Window[] = [];

  const append = async (workspace: string, events: NewEvent[]) => {
    if (events.length === 0) return;
    await store.append(workspace, events).catch((error) => log.error('refusal not journaled', { error }));
  };

  const windowOf = (source: Source): Window => {
    const now = clock.now();
    const own = typeof source === 'string' ? `address ${addressGroup(source)}` : `token ${source.tokenId}`;
    const isOwn = windows.has(own) || windows.size < MAX_SOURCES || typeof source !== 'string';
    const key = isOwn ? own : 'others';
    const open = windows.get(key);
    if (open && now - open.since < WINDOW_MS) return open;
    if (open) over.push(open);
    const window = {
      source: isOwn ? (typeof source === 'string' ? addressGroup(source) : source) : 'others',
      since: now,
      single: 0,
      counted: new Map<string, number>(),
    };
    windows.set(key, window);
    return window;
  };

  const add = ({ counted }: Window, code: string) => counted.set(code, (counted.get(code) ?? 0) + 1);

  const summary = ({ source, since, counted }: Window): { workspace: string; event: NewEvent }[] => {
    const count = [...counted.values()].reduce((sum, each) => sum + each, 0);
    if (count === 0) return [];
    const [workspace, actor, whose] =
      typeof source === 'string' ? [DEFAULT_WORKSPACE_ID, 'anonymous', { source }] : [source.workspace, source.actor, { token_id: source.tokenId }];
    const payload = { ...whose, since, count, codes: Object.fromEntries(counted) };
    return [{ workspace, event: { category: 'usage', kind: 'requests_refused', actor, payload } }];
  };

  return {
    async record(source, event) {
      const window = windowOf(source);
      if (window.single >= ONE_BY_ONE) return void add(window, String(event.payload?.code ?? event.payload?.reason ?? event.kind));
      window.single++;
      await append(DEFAULT_WORKSPACE_ID, [{ ...event, actor: 'anonymous', payload: { source, ...event.payload } }]);
    },
    count(source, code) {
      add(windowOf(source), code);
    },
    async flush(all = false) {
      const now = clock.now();
      const ended = [...windows].filter(([, window]) => all || now - window.since >= WINDOW_MS);
      for (const [key] of ended) windows.delete(key);
      for (const window of [...over.splice(0), ...ended.map(([, each]) => each)])
        for (const { workspace, event } of summary(window)) await append(workspace, [event]);
    },
  };
}
