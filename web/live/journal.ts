import { type ApiError, asApiError, call, type EventView, isSignedOut, openSocket } from '../api.ts';
import { SharedValue } from '../shared-value.ts';

const FIRST_READ = 200;
/** The maximum number of events in memory. */
const KEPT = 1_000;
const PAINT_MS = 250;
const BACKOFF_MS = [500, 1_000, 2_000, 4_000, 8_000];

export interface JournalState {
  /** The events in order, oldest first, without gaps. */
  readonly events: readonly EventView[];
  /** True after the end of the journal has been read once. */
  readonly read: boolean;
  readonly connected: boolean;
  /** When the connection was lost, measured with this machine's clock. */
  readonly lostAt: number | null;
  readonly error: ApiError | null;
}

const START: JournalState = { events: [], read: false, connected: false, lostAt: null, error: null };

export interface JournalListener {
  /** Called with each batch of events that arrives after the first read. */
  arrived(events: readonly EventView[]): void;
  reconnected(): void;
  signedOut(): void;
}

/**
 * Provides the journal's events to this tab. It reads the newest events once, and then receives new ones through one socket. If the socket closes, it is
 * opened again.
 */
export class Journal {
  readonly store = new SharedValue(START);
  #last: number | undefined;
  #arriving: EventView[] = [];
  #paint: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #attempts = 0;
  #socket: WebSocket | undefined;
  /** The number of the current connection, so that messages from earlier connections can be ignored. */
  #turn = 0;
  readonly #listener: JournalListener;

  constructor(listener: JournalListener) {
    this.#listener = listener;
  }

  /** Connects at once. If a retry is scheduled, it does not wait for that. */
  readonly connect = (): void => {
    this.stop();
    void this.#run(this.#turn);
  };

  stop(): void {
    this.#turn++;
    clearTimeout(this.#retry);
    this.#socket?.close();
    this.#socket = undefined;
  }

  async #run(turn: number): Promise<void> {
    try {
      const missed = await this.#read();
      if (turn !== this.#turn) return;
      this.#take(missed);
      const socket = await openSocket('/api/events', { after: String(this.#last) });
      if (turn !== this.#turn) return socket.close();
      this.#follow(turn, socket);
    } catch (error) {
      if (turn !== this.#turn) return;
      if (isSignedOut(error)) return this.#listener.signedOut();
      this.store.change({ error: asApiError(error) });
      this.#lost();
    }
  }

  /** Reads the events after the last known event. If that event is too old, or the journal was replaced, reads only the newest events. */
  async #read(): Promise<{ items: EventView[]; head: number; afresh: boolean }> {
    if (this.#last !== undefined) {
      const { items, head } = await call('events.list', { after: this.#last, limit: KEPT });
      const end = items.at(-1)?.seq ?? this.#last;
      if (end === head.seq) return { items, head: end, afresh: false };
    }
    const { items, head } = await call('events.list', { latest: FIRST_READ });
    return { items, head: head.seq, afresh: true };
  }

  #take({ items, head, afresh }: { items: EventView[]; head: number; afresh: boolean }): void {
    const first = this.#last === undefined;
    if (afresh) {
      this.#arriving = [];
      this.store.change({ events: items });
    } else {
      this.#arriving.push(...items);
    }
    this.#last = head;
    this.#flush();
    this.store.change({ read: true, error: null });
    if (!first) this.#listener.reconnected();
  }

  #follow(turn: number, socket: WebSocket): void {
    this.#socket = socket;
    socket.onopen = () => {
      if (turn !== this.#turn) return;
      this.#attempts = 0;
      this.store.change({ connected: true, lostAt: null });
    };
    socket.onmessage = ({ data }) => {
      const event = JSON.parse(String(data)) as EventView;
      if (turn !== this.#turn || event.seq <= (this.#last ?? 0)) return;
      this.#last = event.seq;
      this.#arriving.push(event);
      this.#paint ??= setTimeout(() => this.#flush(), PAINT_MS);
    };
    socket.onclose = () => {
      if (turn === this.#turn) this.#lost();
    };
  }

  #lost(): void {
    this.store.change({ connected: false, lostAt: this.store.get().lostAt ?? Date.now() });
    const wait = BACKOFF_MS[Math.min(this.#attempts++, BACKOFF_MS.length - 1)];
    clearTimeout(this.#retry);
    this.#retry = setTimeout(this.connect, wait);
  }

  #flush(): void {
    clearTimeout(this.#paint);
    this.#paint = undefined;
    const arrived = this.#arriving;
    if (arrived.length === 0) return;
    this.#arriving = [];
    this.store.change({ events: [...this.store.get().events, ...arrived].slice(-KEPT) });
    this.#listener.arrived(arrived);
  }
}
