/** A statement that runs this often is prepared once for each connection, because planning takes PostgreSQL longer than execution. */
const OFTEN = 10;
/** Each of them costs every connection memory, on both sides. */
const MAX_ITEMS = 200;
const COUNTED = 2_000;

/** Which statements are asked often, and by what name each connection knows them. */
export class PreparedNames {
  readonly #asked = new Map<string, number>();
  readonly #names = new Map<string, string>();
  #epoch = 0;

  /** Undefined: not worth one. */
  of(text: string): string | undefined {
    const name = this.#names.get(text);
    if (name || this.#names.size >= MAX_ITEMS) return name;
    const asked = (this.#asked.get(text) ?? 0) + 1;
    if (this.#asked.size >= COUNTED) this.#asked.clear();
    this.#asked.set(text, asked);
    if (asked < OFTEN) return undefined;
    this.#asked.delete(text);
    const given = `covenant_${this.#epoch}_${this.#names.size}`;
    this.#names.set(text, given);
    return given;
  }

  /** A table has changed under them: every connection must learn them anew. */
  forget(): void {
    this.#epoch++;
    this.#names.clear();
  }
}
