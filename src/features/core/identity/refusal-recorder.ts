import type { Principal, Services } from '../../../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { addressGroup } from '../../../kernel/network.ts';
import type { NewEvent } from '../../../storage/journal.ts';

/** The number of refusals per source and minute that are journaled individually. */
const MAX_SINGLE_PER_WINDOW = 10;
const WINDOW_MS = 60_000;
/** If there are more sources than this in a minute, the others are counted together, because an attacker can use any number of addresses. */
const MAX_SOURCES = 1_000;

/**
 * Journals refused requests without letting them fill the journal. The first few unauthenticated or malformed requests of a
 * source in a minute get one event each, and the others are only counted. Requests over a rate limit or quota are always only
 * counted. The counts are journaled in one event per minute for each token or address.
 */
export interface RefusalRecorder {
  /** `source`: the address of an unauthenticated caller. */
  record(source: string, event: Omit<NewEvent, 'actor'>): Promise<void>;
  count(source: Principal | string, code: string): void;
  /** Journals the counts of all windows that have ended. With `all`, also journals the counts of open windows, because the server is stopping. */
  flush(all?: boolean): Promise<void>;
}

const ANONYMOUS = 'anonymous';

const addressSource = (source: string) => ({ key: `address ${source}`, workspace: DEFAULT_WORKSPACE_ID, actor: ANONYMOUS, payload: { source } });

const OTHER_ADDRESSES = addressSource('others');

/** The source of refused requests, as the journal names it. */
function sourceOf(caller: Principal | string) {
  if (typeof caller === 'string') return addressSource(addressGroup(caller));
  const { tokenId, workspace, actor } = caller;
  return { key: `token ${tokenId}`, workspace, actor, payload: { token_id: tokenId } };
}

/** The refusals of one source in one minute. */
interface RefusalWindow {
  readonly source: ReturnType<typeof sourceOf>;
  readonly since: number;
  /** Refusals that were journaled individually. */
  single: number;
  /** The number of refusals by code, for refusals that are journaled only as a count. */
  readonly counted: Map<string, number>;
}

export function createRefusalRecorder({ store, clock, log }: Services): RefusalRecorder {
  const windows = new Map<string, RefusalWindow>();
  /** Windows that ended before the sweep ran. */
  const endedWindows: RefusalWindow[] = [];

  const append = async (workspace: string, event: NewEvent) => {
    await store.append(workspace, [event]).catch((error) => log.error('refusal not journaled', { error }));
  };

  const windowOf = (caller: Principal | string): RefusalWindow => {
    const now = clock.now();
    const own = sourceOf(caller);
    const source = own.actor === ANONYMOUS && windows.size >= MAX_SOURCES && !windows.has(own.key) ? OTHER_ADDRESSES : own;
    const open = windows.get(source.key);
    if (open && now - open.since < WINDOW_MS) return open;
    if (open) endedWindows.push(open);
    const window: RefusalWindow = { source, since: now, single: 0, counted: new Map() };
    windows.set(source.key, window);
    return window;
  };

  const addTo = ({ counted }: RefusalWindow, code: string) => counted.set(code, (counted.get(code) ?? 0) + 1);

  const appendSummary = async ({ source: { workspace, actor, payload }, since, counted }: RefusalWindow) => {
    const count = [...counted.values()].reduce((sum, each) => sum + each, 0);
    if (count === 0) return;
    const summary = { ...payload, since, count, codes: Object.fromEntries(counted) };
    await append(workspace, { category: 'usage', kind: 'requests_refused', actor, payload: summary });
  };

  return {
    async record(source, event) {
      const window = windowOf(source);
      if (window.single >= MAX_SINGLE_PER_WINDOW) return void addTo(window, String(event.payload?.code ?? event.payload?.reason ?? event.kind));
      window.single++;
      await append(DEFAULT_WORKSPACE_ID, { ...event, actor: ANONYMOUS, payload: { source, ...event.payload } });
    },
    count(source, code) {
      addTo(windowOf(source), code);
    },
    async flush(all = false) {
      const now = clock.now();
      for (const [key, window] of windows) {
        if (!all && now - window.since < WINDOW_MS) continue;
        windows.delete(key);
        endedWindows.push(window);
      }
      for (const window of endedWindows.splice(0)) await appendSummary(window);
    },
  };
}
