import type { Engine } from './engine.ts';

const MAX_ENTRIES = 1_000;

/**
 * Remembers what was read of the access tables for exactly as long as nothing of them can have changed, here or in
 * another process. Revocation must hold from the next call on: where the engine cannot tell, nothing is remembered.
 */
export class AccessMemo {
  readonly #engine: Engine;
  readonly #entries = new Map<string, unknown>();
  readonly #gathering = new Map<string, Promise<unknown>>();
  #stamp: string | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async get<T>(key: string, load: () => Promise<T>): Promise<T> {
    const stamp = this.#engine.accessStamp();
    if (stamp === undefined) return await this.#atOnce(key, load);
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

  /** Those who ask for the same in one turn of the event loop get one reading, which begins when all of them have asked. */
  #atOnce<T>(key: string, load: () => Promise<T>): Promise<T> {
    const gathering = this.#gathering.get(key);
    if (gathering) return gathering as Promise<T>;
    const reading = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#gathering.delete(key);
      return load();
    });
    this.#gathering.set(key, reading);
    return reading;
  }
}
