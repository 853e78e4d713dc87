import { randomFillSync } from 'node:crypto';
import type { CompiledQuery, ExpressionBuilder, Kysely, SelectQueryBuilder } from 'kysely';
import type { z } from 'zod';
import type { Db } from './engine.ts';
import type { Store } from './open.ts';
import type { Database } from './schema-rows.ts';

/**
 * Columns have one of four types: text, integer (also for booleans, as 0 and 1), bigint (such as times in milliseconds since 1970), and JSON stored as text.
 * Both engines return bigint as a JavaScript number, because times and counters stay far below 2^53.
 */
export type EpochMs = number;
/** JSON text. Read it with `readJson`, which validates it. */
export type JsonText = string;

export function readJson<T>(schema: z.ZodType<T>, text: JsonText): T {
  return schema.parse(JSON.parse(text));
}

/** Whether a column can store a field as JSON text. If the column is nullable, the field must be nullable too. */
type HoldsJson<C, F> = C extends JsonText | null ? (NonNullable<F> extends object ? (null extends C ? (null extends F ? true : false) : true) : false) : false;

/** The fields of a view for which the row has a column of the same name, with either the same type or JSON text. */
type SameName<V, R> = {
  [F in keyof V & keyof R]: R[F] extends V[F] ? F : [HoldsJson<R[F], V[F]>] extends [true] ? F : never;
}[keyof V & keyof R];

/** Whether the field is an array or an object. If so, a text column of that name contains JSON. */
function isJson(type: z.ZodType): boolean {
  const { innerType } = type.def as { innerType?: z.ZodType };
  return innerType === undefined ? ['array', 'object', 'record'].includes(type.type) : isJson(innerType);
}

/**
 * Converts a row to the shape of `schema`. Columns with the name of a field are copied, and JSON text is parsed and validated. `rest` provides the remaining
 * fields, and overrides fields that differ from their columns.
 */
export function view<S extends Readonly<Record<string, z.ZodType>>, R extends object>(
  schema: z.ZodObject<S>,
  row: R,
  rest: Omit<z.output<z.ZodObject<S>>, SameName<z.output<z.ZodObject<S>>, R>> & Partial<z.output<z.ZodObject<S>>>,
): z.output<z.ZodObject<S>> {
  const shown: Record<string, unknown> = {};
  for (const [field, type] of Object.entries<z.ZodType>(schema.shape)) {
    const column = row[field as keyof R];
    if (field in rest) shown[field] = rest[field as keyof typeof rest];
    else if (typeof column === 'string' && isJson(type)) shown[field] = readJson(type, column);
    else if (column !== undefined) shown[field] = column;
  }
  return shown as z.output<z.ZodObject<S>>;
}

type Table = keyof Database;
type TableOfWorkspaces = { [T in Table]: Database[T] extends { workspace_id: string } ? T : never }[Table];
type TableWithIds = { [T in Table]: Database[T] extends { workspace_id: string; id: string } ? T : never }[Table];

/** A comparison with a column. `{ '!=': null }` matches rows in which the column is not null. */
type Comparison<V> = { readonly [O in '<' | '<=' | '>' | '>=' | '!=']?: V };

/**
 * The conditions that a row must meet, by column. A list matches any of its values, and null matches null. A column whose condition is undefined is ignored.
 */
type RowMatch<T extends Table> = {
  readonly [C in keyof Database[T]]?: Database[T][C] | readonly NonNullable<Database[T][C]>[] | Comparison<Database[T][C]> | undefined;
};

interface RowOrder<T extends Table> {
  /** Sorts by the first column, then by the next one. */
  readonly order?: { readonly [C in keyof Database[T]]?: 'asc' | 'desc' };
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/**
 * Kysely cannot infer types if the table is a type parameter. The functions below therefore use this type for every table, and their signatures restore the
 * real type.
 */
interface AnyTable {
  row: Record<string, unknown>;
}
const anyTable = (db: Db) => db as unknown as Kysely<AnyTable>;
const asRow = (table: Table) => table as 'row';

const matches = (match: object) => (eb: ExpressionBuilder<AnyTable, 'row'>) =>
  eb.and(
    Object.entries(match).flatMap(([column, value]) => {
      if (value === undefined) return [];
      if (value === null) return [eb(column, 'is', null)];
      if (Array.isArray(value)) return [eb(column, 'in', value)];
      if (typeof value !== 'object') return [eb(column, '=', value)];
      return Object.entries<unknown>(value).map(([operator, bound]) => (bound === null ? eb(column, 'is not', null) : eb(column, operator as '<', bound)));
    }),
  );

/** Whether a condition is an empty list. No row can match it, and PostgreSQL does not accept `in ()`. */
const isNever = (match: object): boolean => Object.values(match).some((value) => Array.isArray(value) && value.length === 0);

/** Returns a query for the matching rows, to which the caller can add conditions. Lists in `match` must not be empty. */
export const matching = <T extends Table>(db: Db, table: T, match: RowMatch<T>) =>
  anyTable(db).selectFrom(asRow(table)).where(matches(match)) as unknown as SelectQueryBuilder<Database, T, object>;

export async function findRows<T extends Table>(db: Db, table: T, match: RowMatch<T>, { order = {}, limit, offset }: RowOrder<T> = {}): Promise<Database[T][]> {
  if (isNever(match)) return [];
  let query = anyTable(db).selectFrom(asRow(table)).where(matches(match)).selectAll();
  for (const [column, direction] of Object.entries<'asc' | 'desc' | undefined>(order)) query = query.orderBy(column, direction);
  if (limit !== undefined) query = query.limit(limit);
  if (offset !== undefined) query = query.offset(offset);
  return (await query.execute()) as unknown as Database[T][];
}

/** Returns the first matching row in `order`. Without an order, at most one row may match. */
export async function findRow<T extends Table>(
  db: Db,
  table: T,
  match: RowMatch<T>,
  order: RowOrder<T>['order'] = undefined,
): Promise<Database[T] | undefined> {
  const [row] = await findRows(db, table, match, order === undefined ? {} : { order, limit: 1 });
  return row;
}

/** Returns a map from id to row, with all columns or only the given ones. */
export async function rowsById<T extends TableWithIds, C extends keyof Database[T] & string = keyof Database[T] & string>(
  db: Db,
  table: T,
  workspace: string,
  ids: readonly string[],
  columns?: readonly C[],
): Promise<Map<string, Pick<Database[T], C>>> {
  if (ids.length === 0) return new Map();
  const query = anyTable(db)
    .selectFrom(asRow(table))
    .where(matches({ workspace_id: workspace, id: ids }));
  const rows = await (columns ? query.select(['id', ...columns]) : query.selectAll()).execute();
  return new Map(rows.map((row) => [row.id as string, row as Pick<Database[T], C>]));
}

export async function hasRow<T extends Table>(db: Db, table: T, match: RowMatch<T>): Promise<boolean> {
  if (isNever(match)) return false;
  const found = await anyTable(db)
    .selectFrom(asRow(table))
    .select((eb) => eb.lit(1).as('found'))
    .where(matches(match))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Returns one page of the query's rows, and the total number of rows. */
export async function pageOf<T extends Table, R>(
  query: SelectQueryBuilder<Database, T, R>,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ rows: R[]; total: number }> {
  const counted = query
    .clearSelect()
    .clearOrderBy()
    .select((eb) => eb.fn.countAll<number>().as('total'));
  const rows = await query.limit(limit).offset(offset).execute();
  return { rows, total: Number((await counted.executeTakeFirstOrThrow()).total) };
}

export async function countRows<T extends Table>(db: Db, table: T, match: RowMatch<T>): Promise<number> {
  if (isNever(match)) return 0;
  const counted = anyTable(db)
    .selectFrom(asRow(table))
    .where(matches(match))
    .select((eb) => eb.fn.countAll<number>().as('count'));
  return Number((await counted.executeTakeFirstOrThrow()).count);
}

/** A limit is needed because both engines restrict the number of parameters in a statement. */
const ROWS_PER_INSERT = 500;

export async function insertRows<T extends Table>(db: Db, table: T, rows: Database[T] | readonly Database[T][]): Promise<void> {
  for (const some of chunks<object>(Array.isArray(rows) ? rows : [rows], ROWS_PER_INSERT)) {
    await anyTable(db)
      .insertInto(asRow(table))
      .values(some as Record<string, unknown>[])
      .execute();
  }
}

/** Inserts the row unless a row with the same key exists. Returns whether it was inserted. */
export async function insertNewRow<T extends Table>(db: Db, table: T, row: Database[T]): Promise<boolean> {
  const inserted = await anyTable(db)
    .insertInto(asRow(table))
    .values(row as object as Record<string, unknown>)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}

/** Inserts rows. If a row with the same `key` exists, all its other columns are updated. */
export async function saveRows<T extends Table>(
  db: Db,
  table: T,
  key: readonly (keyof Database[T] & string)[],
  rows: Database[T] | readonly Database[T][],
): Promise<void> {
  for (const some of chunks<object>(Array.isArray(rows) ? rows : [rows], ROWS_PER_INSERT)) {
    const columns = Object.keys(some[0] ?? {}).filter((column) => !(key as readonly string[]).includes(column));
    await anyTable(db)
      .insertInto(asRow(table))
      .values(some as Record<string, unknown>[])
      .onConflict((conflict) => conflict.columns(key).doUpdateSet((eb) => Object.fromEntries(columns.map((column) => [column, eb.ref(`excluded.${column}`)]))))
      .execute();
  }
}

/** Returns how many rows matched. */
export async function changeRows<T extends Table>(db: Db, table: T, match: RowMatch<T>, values: Partial<Database[T]>): Promise<number> {
  if (isNever(match)) return 0;
  const changed = await anyTable(db)
    .updateTable(asRow(table))
    .set(values as Record<string, unknown>)
    .where(matches(match))
    .executeTakeFirstOrThrow();
  return Number(changed.numUpdatedRows);
}

/** Returns how many rows matched. */
export async function deleteRows<T extends Table>(db: Db, table: T, match: RowMatch<T>): Promise<number> {
  if (isNever(match)) return 0;
  const deleted = await anyTable(db).deleteFrom(asRow(table)).where(matches(match)).executeTakeFirstOrThrow();
  return Number(deleted.numDeletedRows);
}

/** Deletes matching rows in all workspaces, with one transaction for each workspace. If one transaction fails, the others still run. */
export async function deleteEverywhere<T extends TableOfWorkspaces>(store: Pick<Store, 'reader' | 'write'>, table: T, match: RowMatch<T>): Promise<void> {
  const found = await anyTable(store.reader).selectFrom(asRow(table)).select('workspace_id').distinct().where(matches(match)).execute();
  const deleted = found.map(({ workspace_id }) => store.write(workspace_id as string, ({ db }) => deleteRows(db, table, { ...match, workspace_id })));
  await settleAll(deleted);
}

interface Compilable<R> {
  compile(): CompiledQuery<R>;
}

/** Takes the place of the argument at `index` while a query is compiled. */
class Hole {
  readonly index: number;
  constructor(index: number) {
    this.index = index;
  }
}

/**
 * Builds and compiles a query once for each engine. Use it for queries that run with every call, because building a query takes longer than running it.
 * `build` may only insert its arguments into the query: their values do not exist yet.
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

/**
 * Awaits statements that run at the same time. Waits for all of them even if one fails, because none may still be running when the write callback returns.
 * Then throws the first error.
 */
export async function settleAll<const T extends readonly Promise<unknown>[]>(statements: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(statements);
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as { -readonly [K in keyof T]: Awaited<T[K]> };
}

/** Splits a list, because both engines restrict the number of parameters in a statement. */
export function* chunks<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size);
}

/** Crockford's base 32, which has no letters that look like digits. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const TAIL_DIGITS = 16;
const STEP_DIGITS = 4;

/** Random bytes are generated in bulk, because generating them for each id would take most of the time. */
const pool = new Uint8Array(4096);
let spent = pool.length;

let lastTime = -1;
const tail = new Uint8Array(TAIL_DIGITS);

/** Returns the prefix, an underscore, the time and random digits. Ids sort by creation time, even if one process creates several in the same millisecond. */
export function newId(prefix: string, now: number): string {
  if (now === lastTime) increment(tail);
  else drawTail();
  lastTime = now;
  let id = '';
  for (let rest = now, digit = 0; digit < TIME_DIGITS; digit++, rest = Math.floor(rest / 32)) id = ALPHABET[rest % 32] + id;
  for (const digit of tail) id += ALPHABET[digit];
  return `${prefix}_${id}`;
}

function drawTail(): void {
  for (let i = 0; i < TAIL_DIGITS; i++) tail[i] = randomDigit();
  // A small first digit leaves room for increments in the same millisecond without overflow.
  tail[0] = (tail[0] as number) & 15;
}

/** Increments by a random step, so that nobody can guess the next id from this one. */
function increment(digits: Uint8Array): void {
  let carry = 1;
  for (let i = TAIL_DIGITS - 1; i >= 0; i--) {
    const step = i >= TAIL_DIGITS - STEP_DIGITS ? randomDigit() : 0;
    const sum = (digits[i] as number) + step + carry;
    digits[i] = sum & 31;
    carry = sum >> 5;
  }
}

function randomDigit(): number {
  if (spent === pool.length) {
    randomFillSync(pool);
    spent = 0;
  }
  return (pool[spent++] as number) & 31;
}
