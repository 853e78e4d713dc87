import type { Engine } from './engine.ts';

const MAX_ENTRIES = 1_000;

/**
 * Remembers what was read of the access tables for exactly as long as nothing of them can have changed, here or in
 * another process. Revocation must hold from the next call on: where the engine cannot tell, nothing is remembered.
 */
export class AccessMemo {
  readonly #engine: Engine;
  readonly #entries = new Map<string, unknown>();
  #stamp: string | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async get<T>(key: string, load: () => Promise<T>): Promise<T> {
    const stamp = this.#engine.accessStamp();
    if (stamp === undefined) return await load();
    if (stamp !== this.#stamp || this.#entries.size >= MAX_ENTRIES) {
      this.#entries.clear();
      this.#stamp = stamp;
    }
    if (this.#entries.has(key)) return this.#entries.get(key) as T;
    const value = await load();
    // What was loaded is at least as new as the stamp; if the stamp has moved on, the next call loads again.
    if (this.#stamp === stamp) this.#entries.set(key, value);
    return value;
  }
}
