import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { Refusal } from './errors.ts';

/** Its own wildcards are taken literally with `escape '\'`. */
const literally = (text: string): string => text.replace(/[\\%_]/g, (c) => `\\${c}`);
const tailPattern = (tail: string): string => `%${literally(tail)}`;
/** With the words anywhere in it. */
export const wordsPattern = (words: string): string => `%${literally(words)}%`;

/** Tables that grow have an index of the last so many letters of their ids, by this very expression. */
const INDEXED_LETTERS = 4;
const indexedEnd = sql`lower(substr(id, length(id) - ${sql.lit(INDEXED_LETTERS - 1)}))`;

/** Whether the id of a row ends so, whatever its case. */
export function endsIn(tail: string): RawBuilder<SqlBool> {
  const end = sql<SqlBool>`lower(id) like ${tailPattern(tail).toLowerCase()} escape '\\'`;
  return tail.length < INDEXED_LETTERS ? end : sql<SqlBool>`${indexedEnd} = ${tail.slice(-INDEXED_LETTERS).toLowerCase()} and ${end}`;
}

const ENOUGH = 50;

/** Those of the rows whose id ends in `tail`: a few, which are enough to know whether there is only one. */
export async function endingIn<DB, TB extends keyof DB, R extends { id: string }>(rows: SelectQueryBuilder<DB, TB, R>, tail: string): Promise<R[]> {
  const found = await rows.where(endsIn(tail)).limit(ENOUGH).execute();
  return found.filter(({ id }) => id.endsWith(tail));
}

/** The one id that was meant by its tail. `found` are the ids that end in it (a few are enough to know). */
export function onlyMatch(found: readonly string[], tail: string, noun: string): string {
  const exact = found.find((id) => id === tail);
  if (exact) return exact;
  const [first, second] = found;
  const upper = noun.toUpperCase();
  if (!first) throw new Refusal(`${upper}_NOT_FOUND`, `No ${noun} ends in ${JSON.stringify(tail)}.`, `List them to see their ids.`);
  if (second) {
    throw new Refusal('AMBIGUOUS_ID', `${JSON.stringify(tail)} fits more than one ${noun}: ${found.slice(0, 5).join(', ')}.`, 'Give more of the id.');
  }
  return first;
}

/** Whether the column names a repository that people call so. */
export function calledRepository(column: string, name: string): RawBuilder<SqlBool> {
  const like = (ending: string) => sql`${sql.ref(column)} like ${tailPattern(ending)} escape '\\'`;
  return sql<SqlBool>`(${sql.ref(column)} in (${name}, ${`${name}.git`}) or ${like(`/${name}`)} or ${like(`/${name}.git`)} or ${like(`:${name}.git`)})`;
}

/** The one row that was meant by the end of its id. */
export async function findBySuffix<DB, TB extends keyof DB, R extends { id: string }>(
  rows: SelectQueryBuilder<DB, TB, R>,
  tail: string,
  noun: string,
): Promise<R> {
  return rowMeant(await endingIn(rows, tail), tail, noun);
}

/** The same among rows that were found by it. */
export function rowMeant<R extends { id: string }>(found: readonly R[], tail: string, noun: string): R {
  const ids = found.map(({ id }) => id);
  return found[ids.indexOf(onlyMatch(ids, tail, noun))] as R;
}
