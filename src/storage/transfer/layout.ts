import { SCHEMA } from '../schema.ts';
import type { Database } from '../schema-rows.ts';

/** The values that a column can contain. JSON is stored as text. */
export type Value = string | number | null;
export type TransferRow = Record<string, Value>;

interface Column {
  readonly type: 'text' | 'integer' | 'bigint';
  readonly nullable: boolean;
}

export interface TableLayout {
  readonly name: keyof Database;
  /** The columns by name, in the order in which an export writes them. */
  readonly columns: ReadonlyMap<string, Column>;
  readonly key: readonly string[];
  /** The column that contains the id of the row's workspace. */
  readonly owner: 'workspace_id' | 'id';
  /** Sets of columns whose values must be unique across all workspaces. */
  readonly uniqueAcross: readonly (readonly string[])[];
}

/**
 * Tables whose rows belong to one server and are not transferred to another. Permissions to run programs apply to one machine only, and tickets and counts
 * are temporary.
 */
export const OF_ONE_SERVER = ['machine_permissions', 'page_tickets', 'journal_growth'] as const satisfies (keyof Database)[];

/** Tables that an export leaves out: those that belong to one server, and the one that belongs to the database instead of a workspace. */
export const LEFT_OUT = ['schema_migrations', ...OF_ONE_SERVER] as const;

/**
 * These tables come first, because the import needs the anchor before the first event. The order of the others does not matter, because no table has a
 * foreign key.
 */
const FIRST = ['workspaces', 'journal_anchors', 'journal_heads', 'events'];

/** The layout is derived from the recorded schema, so that tables and columns from later migrations are included automatically. */
export const TABLES: readonly TableLayout[] = layoutOf(SCHEMA);

function layoutOf({ sqlite, postgres }: typeof SCHEMA): TableLayout[] {
  const columns = Map.groupBy(postgres.matchAll(/^(\w+)\.(\w+) (text|integer|bigint)( not null)?( default .+)?$/gm), ([, table = '']) => table);
  const unique = Map.groupBy(postgres.matchAll(/^CREATE UNIQUE INDEX \w+ ON (\w+) USING btree \(([^)]+)\)/gm), ([, table = '']) => table);
  // The keys are read from the SQLite statements, because a PostgreSQL table has no primary key if a larger index takes its place.
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

/** Returns the column that does not match its table's layout and what is wrong with it, or undefined if the row is valid. */
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
      // PostgreSQL cannot store NUL characters, and both engines must be able to import the same file.
      if (value.includes('\0')) return `${name}: contains a NUL character`;
    } else if (!Number.isSafeInteger(value)) return `${name}: expected a whole number`;
  }
  return undefined;
}
