import { CompiledQuery, type Kysely } from 'kysely';
import type { Db, Engine } from '../engine.ts';
import { TransferRefused } from './format.ts';
import type { TableLayout, TransferRow } from './layout.ts';

/** Rows of one table with their line numbers. */
export interface RowBatch {
  readonly table: TableLayout;
  readonly rows: TransferRow[];
  readonly lines: number[];
}

export async function insertBatch(engine: Engine, db: Db, batch: RowBatch, workspace: string): Promise<void> {
  try {
    await (engine.kind === 'sqlite' ? insertOneByOne(db, batch) : insertAtOnce(db, batch));
  } catch (error) {
    if (!isNotUnique(error)) throw error;
    throw (await collisionOf(engine.reader, batch, workspace)) ?? notUnique(batch);
  }
}

const quoted = (name: string): string => `"${name}"`;

/** Runs one prepared statement for each row. For SQLite, which runs in this process, that is the fastest way. */
async function insertOneByOne(db: Db, { table: { name, columns }, rows }: RowBatch): Promise<void> {
  const names = [...columns.keys()];
  const text = `insert into ${quoted(name)} (${names.map(quoted).join(', ')}) values (${names.map(() => '?').join(', ')})`;
  for (const row of rows)
    await db.executeQuery(
      CompiledQuery.raw(
        text,
        names.map((column) => row[column]),
      ),
    );
}

/** Inserts all rows with one statement and one round trip. */
async function insertAtOnce(db: Db, { table: { name, columns }, rows }: RowBatch): Promise<void> {
  const names = [...columns.keys()];
  const arrays = [...columns.values()].map(({ type }, index) => `$${index + 1}::${type}[]`);
  const text = `insert into ${quoted(name)} (${names.map(quoted).join(', ')}) select * from unnest(${arrays.join(', ')})`;
  await db.executeQuery(
    CompiledQuery.raw(
      text,
      names.map((column) => rows.map((row) => row[column])),
    ),
  );
}

function isNotUnique(error: unknown): boolean {
  const PRIMARY_KEY = 1555;
  const UNIQUE = 2067;
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === '23505') || ('errcode' in error && (error.errcode === PRIMARY_KEY || error.errcode === UNIQUE));
}

/**
 * Finds the row that conflicts with a row of another workspace. Reads through another connection, because after the error PostgreSQL rejects every statement
 * of this transaction.
 */
async function collisionOf(reader: Db, { table, rows, lines }: RowBatch, workspace: string): Promise<TransferRefused | undefined> {
  const { name, owner, uniqueAcross } = table;
  for (const [index, row] of rows.entries()) {
    for (const columns of uniqueAcross) {
      let query = (reader as unknown as Kysely<Record<string, TransferRow>>).selectFrom(name).select(owner).where(owner, '<>', workspace);
      for (const column of columns) query = query.where(column, '=', row[column] ?? null);
      const other = await query.limit(1).executeTakeFirst();
      if (!other) continue;
      return new TransferRefused(
        'COLLIDES',
        `line ${lines[index]}: workspace ${JSON.stringify(String(other[owner]).replace(/^ws_/, ''))} in this database already has a row of ${name} with the same ${columns.join(', ')}.`,
        'Import into an empty database: set another COVENANT_HOME or DATABASE_URL. Nothing was changed.',
      );
    }
  }
  return undefined;
}

const notUnique = ({ table, lines }: RowBatch): TransferRefused =>
  new TransferRefused(
    'FILE_DAMAGED',
    `lines ${lines[0]} to ${lines.at(-1)}: two rows of ${table.name} have the same key.`,
    'The file is damaged: export again. Nothing was changed.',
  );
