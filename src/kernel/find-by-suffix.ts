import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { endingPattern } from './like.ts';
import { Refusal } from './reply.ts';

/** Finds the row whose id is `tail`, or else the only row whose id ends in `tail`. People often type only the end of an id. */
export async function findBySuffix<DB, TB extends keyof DB, R extends { id: string }>(
  rows: SelectQueryBuilder<DB, TB, R>,
  tail: string,
  noun: string,
): Promise<R> {
  const [exact] = await rows.where(sql<SqlBool>`id = ${tail}`).execute();
  return exact ?? onlyRow(await rowsEndingIn(rows, tail), tail, noun);
}

/** Large tables have an index on the last four letters of the id. A query uses the index only if it contains exactly this expression. */
const INDEXED_LETTERS = 4;
const indexedEnd = sql`lower(substr(id, length(id) - ${sql.lit(INDEXED_LETTERS - 1)}))`;

/** Whether the id of a row ends in `tail`, ignoring case. */
export function endsIn(tail: string): RawBuilder<SqlBool> {
  const end = sql<SqlBool>`lower(id) like ${endingPattern(tail).toLowerCase()} escape '\\'`;
  return tail.length < INDEXED_LETTERS ? end : sql<SqlBool>`${indexedEnd} = ${tail.slice(-INDEXED_LETTERS).toLowerCase()} and ${end}`;
}

const ENOUGH = 50;

/** Returns rows whose id ends in `tail`. Their number is limited, because callers only need to know whether exactly one row matches. */
export async function rowsEndingIn<DB, TB extends keyof DB, R extends { id: string }>(rows: SelectQueryBuilder<DB, TB, R>, tail: string): Promise<R[]> {
  const found = await rows.where(endsIn(tail)).limit(ENOUGH).execute();
  return found.filter(({ id }) => id.endsWith(tail));
}

/** Selects the row with exactly this id, or else the only row found. Throws a refusal if there is no row or more than one. */
export function onlyRow<R extends { id: string }>(found: readonly R[], tail: string, noun: string): R {
  const exact = found.find(({ id }) => id === tail);
  if (exact) return exact;
  const [first, second] = found;
  if (!first)
    throw new Refusal(`${noun.toUpperCase()}_NOT_FOUND`, `No ${noun} ends in ${JSON.stringify(tail)}.`, `List the ${noun}s and use one of their ids.`);
  if (second) {
    const ids = found.slice(0, 5).map(({ id }) => id);
    throw new Refusal('AMBIGUOUS_ID', `${JSON.stringify(tail)} matches more than one ${noun}: ${ids.join(', ')}.`, 'Repeat with the whole id.');
  }
  return first;
}
