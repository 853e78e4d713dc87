import type { ExpressionBuilder, Kysely, SelectQueryBuilder } from 'kysely';
import { chunks } from './chunks.ts';
import type { Db } from './engine.ts';
import type { Database } from './schema-rows.ts';

type Table = keyof Database;
type TableWithIds = { [T in Table]: Database[T] extends { workspace_id: string; id: string } ? T : never }[Table];

/** What the columns of a row equal. A list means any of its values, null means that there is none, and what is undefined does not count. */
export type RowMatch<T extends Table> = { readonly [C in keyof Database[T]]?: Database[T][C] | readonly NonNullable<Database[T][C]>[] | undefined };

interface RowOrder<T extends Table> {
  /** By its first column, then by the next. */
  readonly order?: { readonly [C in keyof Database[T]]?: 'asc' | 'desc' };
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** Kysely cannot follow a table that is a type parameter: inside, every table is this one, and the signatures below say what it is. */
interface AnyTable {
  row: Record<string, unknown>;
}
const anyTable = (db: Db) => db as unknown as Kysely<AnyTable>;
const asRow = (table: Table) => table as 'row';

const equals = (match: object) => (eb: ExpressionBuilder<AnyTable, 'row'>) =>
  eb.and(
    Object.entries(match)
      .filter(([, value]) => value !== undefined)
      .map(([column, value]) => eb(column, value === null ? 'is' : Array.isArray(value) ? 'in' : '=', value)),
  );

/** Nothing is in an empty list, and PostgreSQL has no way to write one. */
const isNever = (match: object): boolean => Object.values(match).some((value) => Array.isArray(value) && value.length === 0);

/** The rows that match, to be narrowed further. Its lists must not be empty. */
export const matching = <T extends Table>(db: Db, table: T, match: RowMatch<T>) =>
  anyTable(db).selectFrom(asRow(table)).where(equals(match)) as unknown as SelectQueryBuilder<Database, T, object>;

export async function findRows<T extends Table>(db: Db, table: T, match: RowMatch<T>, { order = {}, limit, offset }: RowOrder<T> = {}): Promise<Database[T][]> {
  if (isNever(match)) return [];
  let query = anyTable(db).selectFrom(asRow(table)).where(equals(match)).selectAll();
  for (const [column, direction] of Object.entries<'asc' | 'desc' | undefined>(order)) query = query.orderBy(column, direction);
  if (limit !== undefined) query = query.limit(limit);
  if (offset !== undefined) query = query.offset(offset);
  return (await query.execute()) as unknown as Database[T][];
}

/** The first in `order`. Without an order, `match` names one row at most. */
export async function findRow<T extends Table>(
  db: Db,
  table: T,
  match: RowMatch<T>,
  order: RowOrder<T>['order'] = undefined,
): Promise<Database[T] | undefined> {
  const [row] = await findRows(db, table, match, order === undefined ? {} : { order, limit: 1 });
  return row;
}

/** The rows that have these ids, by id. */
export async function rowsById<T extends TableWithIds>(db: Db, table: T, workspace: string, ids: readonly string[]): Promise<Map<string, Database[T]>> {
  const rows = await findRows(db, table, { workspace_id: workspace, id: ids } as unknown as RowMatch<T>);
  return new Map(rows.map((row) => [(row as { id: string }).id, row]));
}

export async function countRows<T extends Table>(db: Db, table: T, match: RowMatch<T>): Promise<number> {
  if (isNever(match)) return 0;
  const counted = anyTable(db)
    .selectFrom(asRow(table))
    .where(equals(match))
    .select((eb) => eb.fn.countAll<number>().as('count'));
  return Number((await counted.executeTakeFirstOrThrow()).count);
}

/** Both engines bound the parameters of a statement. */
const ROWS_PER_INSERT = 500;

export async function insertRows<T extends Table>(db: Db, table: T, rows: Database[T] | readonly Database[T][]): Promise<void> {
  for (const some of chunks<object>(Array.isArray(rows) ? rows : [rows], ROWS_PER_INSERT)) {
    await anyTable(db)
      .insertInto(asRow(table))
      .values(some as Record<string, unknown>[])
      .execute();
  }
}

export async function changeRows<T extends Table>(db: Db, table: T, match: RowMatch<T>, values: Partial<Database[T]>): Promise<void> {
  if (isNever(match)) return;
  await anyTable(db)
    .updateTable(asRow(table))
    .set(values as Record<string, unknown>)
    .where(equals(match))
    .execute();
}

export async function deleteRows<T extends Table>(db: Db, table: T, match: RowMatch<T>): Promise<void> {
  if (isNever(match)) return;
  await anyTable(db).deleteFrom(asRow(table)).where(equals(match)).execute();
}
