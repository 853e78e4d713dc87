import type { Db } from './engine.ts';
import { type JournalEvent, readEvents } from './journal.ts';

/** A page of the journal. All followers at the same position share it, so it must not be modified. */
export type JournalPage = readonly JournalEvent[];

const PAGE = 200;
/** The maximum number of cached pages. A limit is needed because followers that are catching up each read at a different position. */
const KEPT_PAGES = 4;

/** Streams journal events to all followers, with one shared cache of pages for each workspace. */
export class JournalFollowers {
  readonly #db: Db;
  readonly #workspaces = new Map<string, Tail>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** Wakes the followers of a workspace. Called whenever something may have been committed. */
  ring(workspace: string): void {
    this.#workspaces.get(workspace)?.ring();
  }

  ringAll(): void {
    for (const tail of this.#workspaces.values()) tail.ring();
  }

  async *follow(workspace: string, after: number, signal: AbortSignal): AsyncGenerator<JournalPage> {
    const tail = this.#workspaces.get(workspace) ?? new Tail((place) => readEvents(this.#db, workspace, place, PAGE));
    this.#workspaces.set(workspace, tail);
    const wake = tail.join();
    signal.addEventListener('abort', wake.hear);
    try {
      for (let last = after; !signal.aborted; ) {
        // The counter is read before the query, so that a commit between the query and the wait is not missed.
        const rings = tail.rings;
        const page = await tail.read(last);
        const end = page.at(-1);
        if (end) {
          last = end.seq;
          yield page;
        } else if (tail.rings === rings && !signal.aborted) {
          await wake.heard();
        }
      }
    } finally {
      signal.removeEventListener('abort', wake.hear);
      if (tail.leave(wake) === 0) this.#workspaces.delete(workspace);
    }
  }
}

/**
 * Pages at the end of one workspace's journal. Followers at the same position share a page until the next ring. A page that was read just before a commit
 * does not become stale, because the commit rings afterwards and clears all pages.
 */
class Tail {
  readonly #load: (after: number) => Promise<JournalPage>;
  readonly #pages = new Map<number, Promise<JournalPage>>();
  readonly #followers = new Set<Wake>();
  #rings = 0;

  constructor(load: (after: number) => Promise<JournalPage>) {
    this.#load = load;
  }

  get rings(): number {
    return this.#rings;
  }

  join(): Wake {
    const wake = new Wake();
    this.#followers.add(wake);
    return wake;
  }

  /** Returns how many followers remain. */
  leave(wake: Wake): number {
    this.#followers.delete(wake);
    return this.#followers.size;
  }

  ring(): void {
    this.#rings++;
    this.#pages.clear();
    for (const wake of this.#followers) wake.hear();
  }

  read(after: number): Promise<JournalPage> {
    const known = this.#pages.get(after);
    if (known) return known;
    const page = this.#load(after);
    this.#pages.set(after, page);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > KEPT_PAGES && oldest !== undefined) this.#pages.delete(oldest);
    // A failed read is not cached, so the next caller tries again.
    page.catch(() => this.#pages.get(after) === page && this.#pages.delete(after));
    return page;
  }
}

class Wake {
  #resolve: (() => void) | undefined;

  readonly hear = (): void => this.#resolve?.();

  async heard(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    this.#resolve = undefined;
  }
}
