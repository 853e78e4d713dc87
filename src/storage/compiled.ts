import type { CompiledQuery } from 'kysely';
import type { Db } from './engine.ts';

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
