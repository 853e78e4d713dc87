/** A statement that runs this often is prepared once per connection, because PostgreSQL's planning takes longer than its execution. */
const OFTEN = 10;
/** Each prepared statement costs memory on every connection, on both sides. */
const MAX_ITEMS = 200;
const COUNTED = 2_000;

/** Which statements are used often, and the name by which each connection knows them. */
export class PreparedNames {
  readonly #asked = new Map<string, number>();
  readonly #names = new Map<string, string>();
  #epoch = 0;

  /** Undefined if the statement is not used often enough. */
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

  /** Called when a table has changed: every connection must prepare its statements again. */
  forget(): void {
    this.#epoch++;
    this.#names.clear();
  }
}
