import { SCHEMA } from '../schema.ts';
import type { Database } from '../schema-rows.ts';

/** All values that a portable column can contain; JSON is stored as text. */
export type Value = string | number | null;
export type TransferRow = Record<string, Value>;

interface Column {
  readonly type: 'text' | 'integer' | 'bigint';
  readonly nullable: boolean;
}

export interface TableLayout {
  readonly name: keyof Database;
  /** By name, in the order in which a row is written. */
  readonly columns: ReadonlyMap<string, Column>;
  readonly key: readonly string[];
  /** The column that names the workspace of a row. */
  readonly owner: 'workspace_id' | 'id';
  /** Columns whose values must differ between workspaces. */
  readonly uniqueAcross: readonly (readonly string[])[];
}

/** Tables that concern only one server: permissions to run programs on one machine do not apply to another, and tickets and counts are temporary. */
export const OF_ONE_SERVER = ['machine_permissions', 'page_tickets', 'journal_growth'] as const satisfies (keyof Database)[];

/** The tables of one server, and the table that belongs to the database instead of a workspace. */
export const LEFT_OUT = ['schema_migrations', ...OF_ONE_SERVER] as const;

/** The import must know the anchor before the first event. The other tables may come in any order, because none has a foreign key. */
const FIRST = ['workspaces', 'journal_anchors', 'journal_heads', 'events'];

/** Derived from the recorded schema, so that tables and columns of later migrations are included automatically. */
export const TABLES: readonly TableLayout[] = layoutOf(SCHEMA);

function layoutOf({ sqlite, postgres }: typeof SCHEMA): TableLayout[] {
  const columns = Map.groupBy(postgres.matchAll(/^(\w+)\.(\w+) (text|integer|bigint)( not null)?( default .+)?$/gm), ([, table = '']) => table);
  const unique = Map.groupBy(postgres.matchAll(/^CREATE UNIQUE INDEX \w+ ON (\w+) USING btree \(([^)]+)\)/gm), ([, table = '']) => table);
  // PostgreSQL has no primary key if an index with more columns serves as one.
  const keys = new Map(
    [...sqlite.matchAll(/^CREATE TABLE "(\w+)" .*?(?:"(\w+)" \w+ primary key\b|primary key \(([^)]+)\))/gm)].map(([, table = '', one, several]) => [
      table,
      namesIn(one ?? several ?? ''),
    ]),
  );
  const named = [...columns.keys()].filter((name) => !LEFT_OUT.some((table) => table === name) && !FIRST.includes(name)).sort();
  return [...FIRST, ...named].map((name) => {
    const own = (columns.get(name) ?? []).map(([, , column = '', type, required]) => [column, { type: type as Column['type'], nullable: !required }] as const);
    const owner = name === 'workspaces' ? 'id' : 'workspace_id';
    return {
      name: name as keyof Database,
      columns: new Map(own.sort(([a], [b]) => (a < b ? -1 : 1))),
      key: keys.get(name) ?? [],
      owner,
      uniqueAcross: (unique.get(name) ?? []).map(([, , list = '']) => namesIn(list)).filter((list) => !list.includes(owner)),
    };
  });
}

function namesIn(list: string): string[] {
  return list.replaceAll('"', '').split(', ');
}

/** Why a row does not fit its table, with the column's name; undefined if it fits. */
export function rowProblem({ columns }: TableLayout, row: TransferRow): string | undefined {
  const unknown = Object.keys(row).find((name) => !columns.has(name));
  if (unknown !== undefined) return `${unknown}: unknown column`;
  for (const [name, { type, nullable }] of columns) {
    const value = row[name];
    if (value === undefined) return `${name}: missing`;
    if (value === null) {
      if (!nullable) return `${name}: must not be null`;
    } else if (type === 'text') {
      if (typeof value !== 'string') return `${name}: expected text`;
      // PostgreSQL cannot store NUL, and a file must be readable by both engines.
      if (value.includes('\0')) return `${name}: contains a NUL character`;
    } else if (!Number.isSafeInteger(value)) return `${name}: expected a whole number`;
  }
  return undefined;
}
