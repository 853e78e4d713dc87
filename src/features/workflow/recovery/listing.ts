import type { SelectQueryBuilder } from 'kysely';
import type { Database } from '../../../storage/schema-rows.ts';
import type { Scale } from './entries.ts';
import type { ContextEntry } from './parts.ts';
import type { Turns } from './turns.ts';

/** The first of a list, as many as could ever fit, and how many there are in all. */
export interface FoundEntries<T> {
  readonly entries: readonly ContextEntry<T>[];
  readonly total: number;
}

/** Rows read at once; the first few at once are fewer, for they may be large. */
export const [FIRST_PAGE, PAGE] = [10, 100];
/** So much detail is read for each token that may be used: a large one may be passed over for smaller ones further back. */
export const CHARACTERS = 16;
/** Fewer tokens than any entry of a list has with its id and its field names. */
const LEAST_TOKENS = 15;

/** A list in its order, which is worked out once and over the ids alone: it may be of 10,000 tasks with much text in each. */
export interface ContextListing<R, T> {
  ids(limit: number): Promise<{ id: string }[]>;
  count(): Promise<number>;
  /** In any order. `briefly`: without what makes them large. One that no longer belongs to the list is left out. */
  rows(ids: readonly string[], briefly: boolean): Promise<R[]>;
  entry(row: R, briefly: boolean): ContextEntry<T>;
}

export async function countOf<T extends keyof Database>(query: SelectQueryBuilder<Database, T, object>): Promise<number> {
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return Number(count);
}

export const listing = <R extends { id: string }, T>(each: ContextListing<R, T>): ContextListing<R, T> => each;

const charactersOf = (row: object): number => Object.values(row).reduce((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);

/** Reads on until there can be no room for more. */
export async function found<R extends { id: string }, T>(
  { ids, count, rows, entry }: ContextListing<R, T>,
  { max }: Scale,
  turns: Turns,
): Promise<FoundEntries<T>> {
  const most = Math.ceil(max / LEAST_TOKENS) + 1;
  const order = await ids(most);
  let total = order.length < most ? order.length : await count();
  const entries: ContextEntry<T>[] = [];
  let [at, bares, characters] = [0, 0, 0];
  for (let page = FIRST_PAGE; at < order.length && bares <= max; page = Math.min(2 * page, PAGE)) {
    const wanted = order.slice(at, at + page).map(({ id }) => id);
    const briefly = characters > CHARACTERS * max;
    const read = new Map((await rows(wanted, briefly)).map((row) => [row.id, row]));
    for (const id of wanted) {
      if (bares > max) break;
      at++;
      const row = read.get(id);
      if (row) {
        const made = entry(row, briefly);
        entries.push(made);
        bares += made.bareSize;
        characters += charactersOf(row);
      } else total--;
    }
    await turns.next();
  }
  return { entries, total: Math.max(total, entries.length) };
}
