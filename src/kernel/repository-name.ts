import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { tailPattern } from './tail.ts';

/** What people call a repository, whether it is known by a path, an address or a name: the last part. */
export const repositoryName = (known: string): string =>
  known
    .replace(/[/\\]+$/, '')
    .replace(/\.git$/, '')
    .split(/[/\\:]/)
    .at(-1) || known;

/** Whether the column names a repository that people call so. */
export function calledRepository(column: string, name: string): RawBuilder<SqlBool> {
  const like = (ending: string) => sql`${sql.ref(column)} like ${tailPattern(ending)} escape '\\'`;
  return sql<SqlBool>`(${sql.ref(column)} in (${name}, ${`${name}.git`}) or ${like(`/${name}`)} or ${like(`/${name}.git`)} or ${like(`:${name}.git`)})`;
}
