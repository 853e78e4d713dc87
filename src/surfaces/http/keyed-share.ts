/** Something that callers share (memory, sockets, connections): so much in all, and of that no more than its own part for one caller. */
export class KeyedShare {
  readonly #most: number;
  readonly #mostPerKey: number;
  readonly #byKey = new Map<string, number>();
  #taken = 0;

  constructor(most: number, mostPerKey: number) {
    this.#most = most;
    this.#mostPerKey = mostPerKey;
  }

  take(key: string, amount = 1): boolean {
    const own = (this.#byKey.get(key) ?? 0) + amount;
    if (own > this.#mostPerKey || this.#taken + amount > this.#most) return false;
    if (own > 0) this.#byKey.set(key, own);
    this.#taken += amount;
    return true;
  }

  giveBack(key: string, amount = 1): void {
    const own = (this.#byKey.get(key) ?? 0) - amount;
    if (own > 0) this.#byKey.set(key, own);
    else this.#byKey.delete(key);
    this.#taken -= amount;
  }
}
