import type { Db } from './engine.ts';
import { type JournalEvent, readEvents } from './journal.ts';

/** A page of the journal. All followers at the same position share it, so it must not be modified. */
export type JournalPage = readonly JournalEvent[];

const PAGE = 200;
/** The maximum number of cached pages. Followers at the same position share a page, but followers that catch up are at many positions. */
const KEPT_PAGES = 4;

/** All followers of the journals, by workspace. */
export class JournalFollowers {
  readonly #db: Db;
  readonly #workspaces = new Map<string, Tail>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** Called when something may have been committed. */
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
        // Read before the query: a commit between the query and the wait must not be missed.
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
 * One workspace's journal. Until the next ring, all followers at the same position share a page. If a query missed a commit, that commit rings after
 * the query, and the page is dropped.
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
    // A failure is not shared: the next caller reads again.
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
