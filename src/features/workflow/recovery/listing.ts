import type { SelectQueryBuilder } from 'kysely';
import type { TimeSlice } from '../../../kernel/time-slice.ts';
import type { Database } from '../../../storage/schema-rows.ts';
import type { Scale } from './entries.ts';
import type { ContextEntry } from './parts.ts';

/** The first entries of a list, as many as can fit, and the total number of entries. */
export interface ListingEntries<T> {
  readonly entries: readonly ContextEntry<T>[];
  readonly total: number;
}

/** A list that is read in two steps: first all ids in order, then the rows, page by page. The list may contain 10,000 tasks with much text in each. */
interface ContextListing<R, T> {
  ids(limit: number): Promise<{ id: string }[]>;
  count(): Promise<number>;
  /**
   * Reads the rows with these ids, in any order. If `briefly` is true, large fields are left out. Rows that no longer belong to the list are missing
   * from the result.
   */
  rows(ids: readonly string[], briefly: boolean): Promise<R[]>;
  entry(row: R, briefly: boolean): ContextEntry<T>;
}

export const defineListing = <R extends { id: string }, T>(each: ContextListing<R, T>): ContextListing<R, T> => each;

/** Number of rows in the first page. This page is small, because its rows are read with their large fields. */
export const FIRST_PAGE = 10;

export const PAGE = 100;

/**
 * For each token of the budget, at most this many characters are read with full details. This is more than can fit, because smaller entries may follow
 * a large one.
 */
export const CHARACTERS = 16;

/** Every list entry needs more tokens than this for its id and its field names. */
const LEAST_TOKENS = 15;

/** Reads pages of the list until no further entry can fit. */
export async function readListing<R extends { id: string }, T>(
  { ids, count, rows, entry }: ContextListing<R, T>,
  { max }: Scale,
  slice: TimeSlice,
): Promise<ListingEntries<T>> {
  const limit = Math.ceil(max / LEAST_TOKENS) + 1;
  const order = await ids(limit);
  let total = order.length < limit ? order.length : await count();
  const entries: ContextEntry<T>[] = [];
  let [at, bares, characters] = [0, 0, 0];
  for (let page = FIRST_PAGE; at < order.length && bares <= max; page = Math.min(2 * page, PAGE)) {
    const next = order.slice(at, at + page).map(({ id }) => id);
    const briefly = characters > CHARACTERS * max;
    const read = new Map((await rows(next, briefly)).map((row) => [row.id, row]));
    for (const id of next) {
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
    await slice.pauseIfOver();
  }
  return { entries, total: Math.max(total, entries.length) };
}

const charactersOf = (row: object): number => Object.values(row).reduce((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);

export async function countOf<T extends keyof Database>(query: SelectQueryBuilder<Database, T, object>): Promise<number> {
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return Number(count);
}
