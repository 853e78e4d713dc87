import type { CompiledQuery } from 'kysely';
import type { Db } from './engine.ts';

/** What is asked often is planned once for each connection: to plan it takes PostgreSQL longer than to do it. */
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

interface Compilable<R> {
  compile(): CompiledQuery<R>;
}

/** Stands for the argument at `index` while a query is compiled. */
class Hole {
  readonly index: number;
  constructor(index: number) {
    this.index = index;
  }
}

/**
 * A query that runs with every call, built and compiled once per engine: building it anew costs more than running it.
 * `build` must not look at its arguments, only place them.
 */
export function compiledQuery<A extends readonly unknown[], R>(
  arity: A['length'],
  build: (db: Db, ...args: A) => Compilable<R>,
): (db: Db, ...args: A) => Promise<R[]> {
  const cache = new Map<unknown, CompiledQuery<R>>();
  return async (db, ...args) => {
    const engine = db.getExecutor().adapter.constructor;
    let query = cache.get(engine);
    if (!query) {
      const holes = Array.from({ length: arity }, (_, index) => new Hole(index));
      query = build(db, ...(holes as unknown as A)).compile();
      cache.set(engine, query);
    }
    const parameters = query.parameters.map((parameter) => (parameter instanceof Hole ? args[parameter.index] : parameter));
    return (await db.executeQuery<R>({ ...query, parameters })).rows;
  };
}
