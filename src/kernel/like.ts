import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** Patterns for `like … escape '\'`. Wildcards in the text itself are taken literally. */
const literally = (text: string): string => text.replace(/[\\%_]/g, (c) => `\\${c}`);
/** Matches texts that end in `ending`. */
export const endingPattern = (ending: string): string => `%${literally(ending)}`;
/** Matches texts that contain the words. */
export const wordsPattern = (words: string): string => `%${literally(words)}%`;

/** SQL condition: the column contains the address, path or name of a repository with this short name. */
export function calledRepository(column: string, name: string): RawBuilder<SqlBool> {
  const like = (ending: string) => sql`${sql.ref(column)} like ${endingPattern(ending)} escape '\\'`;
  return sql<SqlBool>`(${sql.ref(column)} in (${name}, ${`${name}.git`}) or ${like(`/${name}`)} or ${like(`/${name}.git`)} or ${like(`:${name}.git`)})`;
}
