import type { Services } from '../../../kernel/call.ts';
import { readHead } from '../../../storage/journal.ts';

/** Whoever waits looks again by the clock too: what another process wrote is otherwise told by hints alone. */
const LOOK_MS = 1_000;

interface Followed {
  /** Once it is settled, no decision is missed. */
  readonly ready: Promise<void>;
  readonly stop: AbortController;
  readonly bells: Map<string, Set<() => void>>;
}

/** Wakes those who wait for a decision, whichever process it was made in. However many wait in a workspace, its journal is followed once. */
export class DecisionWatch {
  readonly #services: Services;
  readonly #followed = new Map<string, Followed>();

  constructor(services: Services) {
    this.#services = services;
  }

  /** Resolves when every later event of the approval rings; call what it gives to end that. */
  async of(workspace: string, id: string, ring: () => void): Promise<() => void> {
    const followed = this.#followed.get(workspace) ?? this.#follow(workspace);
    const bells = followed.bells.get(id) ?? new Set();
    followed.bells.set(id, bells.add(ring));
    const stopLooking = this.#services.clock.every(LOOK_MS, ring);
    const end = () => {
      stopLooking();
      bells.delete(ring);
      if (bells.size === 0) followed.bells.delete(id);
      if (followed.bells.size > 0) return;
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

  #follow(workspace: string): Followed {
    const { store, log } = this.#services;
    const stop = new AbortController();
    const bells: Followed['bells'] = new Map();
    const listen = async (after: number) => {
      for await (const page of store.follow(workspace, after, stop.signal)) {
        for (const { kind, subject } of page) {
          if (kind.startsWith('approval.') && subject) for (const ring of bells.get(subject) ?? []) ring();
        }
      }
    };
    const ready = (async () => {
      const after = (await readHead(store.reader, workspace))?.seq ?? 0;
      // Those who wait go on by the clock; the next one follows anew.
      listen(after)
        .catch((error) => log.warn('decisions are no longer followed', { workspace, error }))
        .finally(() => this.#forget(workspace, followed));
    })();
    const followed: Followed = { ready, stop, bells };
    this.#followed.set(workspace, followed);
    return followed;
  }

  #forget(workspace: string, followed: Followed): void {
    if (this.#followed.get(workspace) === followed) this.#followed.delete(workspace);
  }
}
