import { type Kysely, sql } from 'kysely';
import type { EngineKind } from './engine.ts';

/**
 * The language in which tables are described. One description serves both engines:
 *
 *   -- Comment on the table. A blank line ends the previous table.
 *   table claims (workspace_id, id)                  the primary key; `include (weight)` after it adds a column to its index
 *     workspace_id, id, session_id?                  columns; text unless a type follows, `?` where null is allowed
 *     paths json, uses int = 0, seq bigint, created_at time -- Comment on the first column of the line.
 *     mode 'exclusive' | 'shared'                    text that is one of these
 *     hash unique
 *     unique claims_name (workspace_id, name)
 *     index claims_due (workspace_id, expires_at) where "released_at" is null
 *     ending index                                   for lookups by the end of the id, which people use as a short name
 *     without rowid                                  SQLite keeps rows in the order of the key
 *     create index …                                 any other statement, unchanged
 *
 *   alter claims                                     a later migration changes a table: the lines below are added to it
 *     reviewed_at? time, rounds int = 0              rows exist already: a new column is optional or has an initial value
 *     index claims_reviewed (workspace_id, reviewed_at)
 *     drop reason, label                             columns to drop
 */
export interface DescribedTable {
  readonly name: string;
  /** True if the table exists already, so that columns and statements are added to it and `dropped` columns are removed. */
  readonly isAltered: boolean;
  readonly dropped: readonly string[];
  readonly comment: string | undefined;
  readonly columns: readonly DescribedColumn[];
  readonly key: readonly string[];
  readonly includedInKey: readonly string[];
  readonly uniques: readonly { name: string; columns: readonly string[] }[];
  readonly isWithoutRowid: boolean;
  readonly statements: readonly string[];
}

export interface DescribedColumn {
  readonly name: string;
  readonly sqlType: 'text' | 'integer' | 'bigint';
  readonly rowType: string;
  readonly isNullable: boolean;
  readonly isUnique: boolean;
  readonly initial: string | undefined;
  readonly comment: string | undefined;
}

const TYPES: Readonly<Record<string, Pick<DescribedColumn, 'sqlType' | 'rowType'>>> = {
  text: { sqlType: 'text', rowType: 'string' },
  json: { sqlType: 'text', rowType: 'JsonText' },
  int: { sqlType: 'integer', rowType: 'number' },
  bigint: { sqlType: 'bigint', rowType: 'number' },
  time: { sqlType: 'bigint', rowType: 'EpochMs' },
};

export function parseTables(text: string): DescribedTable[] {
  return text
    .trim()
    .split(/\n{2,}/)
    .map(parseTable);
}

function parseTable(block: string): DescribedTable {
  const lines = block.split('\n');
  const comments = lines.filter((line) => line.startsWith('-- ')).map((line) => line.slice(3));
  const [heading = '', ...body] = lines.filter((line) => !line.startsWith('-- ')).map((line) => line.trim().split(/ +-- /));
  const isAltered = heading[0]?.startsWith('alter ') === true;
  const [, name = '', key = '', included] = mustMatch(heading[0], isAltered ? /^alter (\w+)$/ : /^table (\w+) \(([\w, ]+)\)(?: include \(([\w, ]+)\))?$/);
  const columns: DescribedColumn[] = [];
  const uniques: { name: string; columns: string[] }[] = [];
  const statements: string[] = [];
  const dropped: string[] = [];
  let isWithoutRowid = false;
  for (const [line = '', comment] of body) {
    if (line === 'without rowid') isWithoutRowid = true;
    else if (line === 'ending index') {
      statements.push(`create index ${name}_ending on "${name}" (lower(substr(id, length(id) - 3)), workspace_id, id)`);
    } else if (line.startsWith('create ')) statements.push(line);
    else if (isAltered && line.startsWith('drop ')) dropped.push(...line.slice('drop '.length).split(', '));
    else if (/^(unique )?index /.test(line)) {
      const [, kind, index, list = '', condition = ''] = mustMatch(line, /^((?:unique )?index) (\w+) \(([\w, ]+)\)( where .+)?$/);
      statements.push(`create ${kind} "${index}" on "${name}" (${quoted(list.split(', '))})${condition}`);
    } else if (/^unique \w+ \(/.test(line)) {
      const [, unique = '', list = ''] = mustMatch(line, /^unique (\w+) \(([\w, ]+)\)$/);
      uniques.push({ name: unique, columns: list.split(', ') });
    } else columns.push(...line.split(', ').map((column, index) => parseColumn(column, index === 0 ? comment : undefined)));
  }
  return {
    name,
    isAltered,
    dropped,
    comment: comments.length > 0 ? comments.join(' ') : undefined,
    columns,
    key: key.split(', '),
    includedInKey: included?.split(', ') ?? [],
    uniques,
    isWithoutRowid,
    statements,
  };
}

function parseColumn(text: string, comment: string | undefined): DescribedColumn {
  const [, name = '', optional, type = 'text', unique, initial] = mustMatch(
    text,
    /^(\w+)(\?)?(?: (text|json|int|bigint|time|'.+?'))?( unique)?(?: = (\d+|'[^']*'))?$/,
  );
  const { sqlType, rowType } = TYPES[type] ?? { sqlType: 'text', rowType: type };
  return { name, sqlType, rowType, isNullable: optional !== undefined, isUnique: unique !== undefined, initial, comment };
}

function mustMatch(line: string | undefined, pattern: RegExp): RegExpMatchArray {
  const match = line?.match(pattern);
  if (!match) throw new Error(`the schema has an invalid line: ${line}`);
  return match;
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

export async function createTables(db: Kysely<unknown>, engine: EngineKind, text: string): Promise<void> {
  for (const table of parseTables(text)) {
    for (const statement of statementsFor(table, engine)) await sql.raw(statement).execute(db);
  }
}

function statementsFor(table: DescribedTable, engine: EngineKind): string[] {
  const { name, key, includedInKey, uniques, isWithoutRowid, statements } = table;
  if (table.isAltered) return alteringStatements(table);
  const isIndexed = engine === 'postgres' && includedInKey.length > 0;
  const parts = table.columns.map((column) => columnSql(column, key.length === 1 && key[0] === column.name));
  if (key.length > 1 && !isIndexed) parts.push(`constraint "${name}_key" primary key (${quoted(key)})`);
  for (const unique of uniques) parts.push(`constraint "${unique.name}" unique (${quoted(unique.columns)})`);
  return [
    `create table "${name}" (${parts.join(', ')})${engine === 'sqlite' && isWithoutRowid ? ' without rowid' : ''}`,
    // A SQLite table without rowid stores the whole row in its key. PostgreSQL needs an index that includes the column to get the same effect.
    ...(isIndexed ? [`create unique index "${name}_key" on "${name}" (${quoted(key)}) include (${quoted(includedInKey)})`] : []),
    ...statements,
  ];
}

function alteringStatements({ name, columns, uniques, dropped, statements }: DescribedTable): string[] {
  for (const column of columns) {
    if (!column.isNullable && column.initial === undefined)
      throw new Error(`${name}.${column.name}: existing rows need a value, so it must be optional or have an initial value`);
    // SQLite cannot add a unique column.
    if (column.isUnique) throw new Error(`${name}.${column.name}: add it as a plain column with a unique index`);
  }
  if (uniques.length > 0) throw new Error(`${name}: add a unique index instead of the constraint ${uniques[0]?.name}`);
  return [
    ...columns.map((column) => `alter table "${name}" add column ${columnSql(column, false)}`),
    ...dropped.map((column) => `alter table "${name}" drop column "${column}"`),
    ...statements,
  ];
}

function columnSql({ name, sqlType, isNullable, isUnique, initial }: DescribedColumn, isKey: boolean): string {
  const rules = isKey ? ' primary key' : `${initial === undefined ? '' : ` default ${initial}`}${isNullable ? '' : ' not null'}${isUnique ? ' unique' : ''}`;
  return `"${name}" ${sqlType}${rules}`;
}
