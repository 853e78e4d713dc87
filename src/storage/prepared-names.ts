/** After this many runs a statement is prepared once for each connection, because PostgreSQL needs longer to plan it than to execute it. */
const OFTEN = 10;
/** The number of prepared statements is limited, because each one uses memory on every connection, in this process and in PostgreSQL. */
const MAX_ITEMS = 200;
const COUNTED = 2_000;

/** Counts statements and assigns names to frequent ones, under which each connection prepares them. */
export class PreparedNames {
  readonly #asked = new Map<string, number>();
  readonly #names = new Map<string, string>();
  #epoch = 0;

  /** Counts one use of the statement. Returns its name, or undefined if it is not used often enough. */
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

  /** Called when the columns of a table have changed, because every connection must then prepare its statements again. */
  forget(): void {
    this.#epoch++;
    this.#names.clear();
  }
}
