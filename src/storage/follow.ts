import type { Db } from './engine.ts';
import { type JournalEvent, readEvents } from './journal.ts';

/** A page of the journal. All followers at the same place share it, so it must not be changed. */
export type JournalPage = readonly JournalEvent[];

const PAGE = 200;
/** Pages kept for other followers at the same place. Followers that catch up are at many places. */
const KEPT_PAGES = 4;

/** All followers of the journals, by workspace. */
export class JournalFollowers {
  readonly #db: Db;
  readonly #workspaces = new Map<string, Tail>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** Something may have been committed. */
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
        // Taken before reading: a commit between the read and the wait must not be slept through.
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
 * One workspace's journal. What was read since it last rang is given to everybody who asks for the same: a commit that the
 * reading missed rings after it, and then nothing is kept of it.
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

  /** How many are left. */
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
    // A failure is nobody else's: the next to ask reads anew.
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
