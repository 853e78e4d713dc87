import { type ApiError, asApiError, call, type EventView } from '../../api.ts';
import type { EventSearch } from '../../search.ts';
import { SharedValue } from '../../shared-value.ts';

const PAGE = 200;
/** How many older events one request reads. */
const OLDER = 500;
/** The maximum number of events in the list. Older events are dropped. */
export const MAX_ROWS = 20_000;

export interface FeedState {
  /** Events that match the filter, newest first. */
  readonly rows: readonly EventView[];
  /** `rows` contains all matching events from this one up to `to`. */
  readonly from: number;
  readonly to: number;
  /** The number of the first event that the journal contains. Earlier events may have been pruned. */
  readonly begin: number;
  readonly read: boolean;
  readonly reading: boolean;
  /** True if the last page was full, so that there are probably more matching events. */
  readonly full: boolean;
  readonly error: ApiError | null;
}

const START: FeedState = { rows: [], from: 1, to: 0, begin: 1, read: false, reading: false, full: false, error: null };

/**
 * The part of the journal that was read for one filter. Events never change, so each event is read only once. Without a filter, new events come from the
 * tab's live journal. With a filter, they are requested from the server, which applies the filter.
 */
export class Feed {
  readonly store = new SharedValue<FeedState>(START);
  #newest = 0;
  #busy = false;
  readonly #filter: EventSearch;
  readonly #isWhole: boolean;

  constructor(filter: EventSearch) {
    this.#filter = filter;
    this.#isWhole = Object.keys(filter).length === 0;
  }

  /** Adds new events from the tab's live journal (`held`, in order). */
  follow(held: readonly EventView[]): void {
    this.#newest = held.at(-1)?.seq ?? 0;
    // If the journal ends before the last known event, it was replaced by another one, so start again.
    if (this.#newest < this.store.get().to) this.store.change(START);
    if (!this.#isWhole) return void this.#catchUp();
    const oldest = held[0]?.seq ?? 1;
    const { to, rows, read } = this.store.get();
    if (!read || oldest > to + 1) this.store.change({ ...START, rows: held.toReversed(), from: oldest, to: this.#newest, read: true, full: oldest > 1 });
    else if (this.#newest > to) this.#keep([...held.filter(({ seq }) => seq > to).reverse(), ...rows], this.#newest);
  }

  readonly retry = (): void => void this.#catchUp();

  readonly older = async (): Promise<void> => {
    const { from, begin, reading } = this.store.get();
    if (reading || from <= begin) return;
    this.store.change({ reading: true, error: null });
    try {
      const { items, looked, anchor } = await call('events.list', { ...this.#filter, before: from, limit: OLDER });
      if (this.store.get().from !== from) return;
      this.store.change({ rows: [...this.store.get().rows, ...items.toReversed()], from: looked.from, begin: anchor.seq + 1, full: items.length === OLDER });
    } catch (error) {
      this.store.change({ error: asApiError(error) });
    } finally {
      this.store.change({ reading: false });
    }
  };

  /** Requests new matching events, one request at a time. Events that arrive in the meantime are read by the next request. */
  async #catchUp(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      if (!this.store.get().read) await this.#first();
      while (this.#newest > this.store.get().to) {
        const { items, looked, head } = await call('events.list', { ...this.#filter, after: this.store.get().to, limit: PAGE });
        this.#keep([...items.toReversed(), ...this.store.get().rows], looked.to);
        if (looked.to >= head.seq) break;
      }
      this.store.change({ error: null });
    } catch (error) {
      this.store.change({ error: asApiError(error) });
    } finally {
      this.#busy = false;
    }
  }

  async #first(): Promise<void> {
    this.store.change({ error: null });
    const { items, looked, anchor } = await call('events.list', { ...this.#filter, latest: PAGE });
    this.store.change({ rows: items.toReversed(), from: looked.from, to: looked.to, begin: anchor.seq + 1, read: true, full: items.length === PAGE });
  }

  #keep(rows: readonly EventView[], to: number): void {
    const kept = rows.slice(0, MAX_ROWS);
    const from = kept.length < rows.length ? (kept.at(-1)?.seq ?? 1) : this.store.get().from;
    this.store.change({ rows: kept, to, from });
  }
}
