import type { Services } from '../../../kernel/call.ts';
import { readHead } from '../../../storage/journal.ts';

/** Notifications about events of other processes can get lost, so waiting callers also check every second. */
const LOOK_AGAIN_MS = 1_000;

interface FollowedJournal {
  /** Decisions that are made after this promise has settled are not missed. */
  readonly ready: Promise<void>;
  readonly stop: AbortController;
  /** For each approval id: the functions that wake the callers that wait for this approval. */
  readonly waiting: Map<string, Set<() => void>>;
}

/** Wakes callers that wait for a decision made in any process. Each workspace's journal is followed once, however many callers wait. */
export class DecisionWatch {
  readonly #services: Services;
  readonly #followed = new Map<string, FollowedJournal>();

  constructor(services: Services) {
    this.#services = services;
  }

  /** After this resolves, every event of the approval calls `wake` until the returned function is called. */
  async watch(workspace: string, id: string, wake: () => void): Promise<() => void> {
    const followed = this.#followed.get(workspace) ?? this.#follow(workspace);
    const wakers = followed.waiting.get(id) ?? new Set();
    followed.waiting.set(id, wakers.add(wake));
    const stopLooking = this.#services.clock.every(LOOK_AGAIN_MS, wake);
    const end = () => {
      stopLooking();
      wakers.delete(wake);
      if (wakers.size === 0) followed.waiting.delete(id);
      if (followed.waiting.size > 0) return;
      followed.stop.abort();
      this.#forget(workspace, followed);
    };
    try {
      await followed.ready;
      return end;
    } catch (error) {
      end();
      throw error;
    }
  }

  #follow(workspace: string): FollowedJournal {
    const { store, log } = this.#services;
    const stop = new AbortController();
    const waiting: FollowedJournal['waiting'] = new Map();
    const listen = async (after: number) => {
      for await (const page of store.follow(workspace, after, stop.signal)) {
        for (const { kind, subject } of page) {
          if (kind.startsWith('approval.') && subject) for (const wake of waiting.get(subject) ?? []) wake();
        }
      }
    };
    const ready = (async () => {
      const after = (await readHead(store.reader, workspace))?.seq ?? 0;
      // If following the journal fails, waiting callers still check every second, and the next caller follows the journal again.
      listen(after)
        .catch((error) => log.warn('stopped following decisions', { workspace, error }))
        .finally(() => this.#forget(workspace, followed));
    })();
    const followed: FollowedJournal = { ready, stop, waiting };
    this.#followed.set(workspace, followed);
    return followed;
  }

  #forget(workspace: string, followed: FollowedJournal): void {
    if (this.#followed.get(workspace) === followed) this.#followed.delete(workspace);
  }
}
