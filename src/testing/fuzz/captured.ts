import { sql } from 'kysely';
import type { Store } from '../../storage/open.ts';
import type { Database } from '../../storage/schema-rows.ts';

export type Table = keyof Database;
export type Row = Readonly<Record<string, unknown>>;

/** One row that a call has inserted, changed or deleted. */
export interface Change {
  readonly table: Table;
  readonly before: Row | null;
  readonly after: Row | null;
}

/** Provides the rows in the store and their changes. Triggers in the database record all changes, even those that bypass the product. */
export interface Captured {
  /** Returns the changes since the previous call of this function. */
  changes(): Promise<Change[]>;
  /** Returns the rows as they were at the last call of `changes`, in the order of their creation. */
  rows(table: Table): readonly Row[];
  /** Returns the workspace of the row with this id, even if the row was deleted. */
  workspaceOf(id: string): unknown;
  /** Returns the row whose column `id` has this value. */
  find(table: Table, id: unknown): Row | undefined;
}

const LEDGER = 'fuzz_changes';

export async function captured(store: Store, workspace: string): Promise<Captured> {
  const tables = await columnsOf(store);
  const statements = store.kind === 'sqlite' ? sqliteTriggers(tables) : postgresTriggers(tables);
  await store.write(workspace, async (tx) => {
    for (const statement of statements) await sql.raw(statement).execute(tx.db);
  });
  const mirror = new Map<Table, Map<string, Row>>();
  const byId = new Map<Table, Map<unknown, Row>>();
  const places = new Map<unknown, unknown>();
  let last = 0;
  return {
    async changes() {
      const { rows } = await sql<{ n: number; name: Table; old: string | null; new: string | null }>`
        select n, name, old, new from ${sql.table(LEDGER)} where n > ${last} order by n`.execute(store.reader);
      last = Number(rows.at(-1)?.n ?? last);
      return rows.map(({ name, old, new: made }) => {
        const change: Change = { table: name, before: parsed(old), after: parsed(made) };
        const known = mirror.get(name) ?? new Map<string, Row>();
        mirror.set(name, known);
        const key = tables.get(name)?.key ?? [];
        if (change.before) known.delete(keyOf(change.before, key));
        if (change.after) known.set(keyOf(change.after, key), change.after);
        const named = byId.get(name) ?? new Map<unknown, Row>();
        byId.set(name, named);
        if (change.before) named.delete(change.before.id);
        if (change.after) named.set(change.after.id, change.after);
        if (change.after) places.set(change.after.id, change.after.workspace_id);
        return change;
      });
    },
    workspaceOf: (id) => places.get(id),
    find: (table, id) => byId.get(table)?.get(id),
    rows: (table) => [...(mirror.get(table)?.values() ?? [])],
  };
}

const parsed = (text: string | null): Row | null => (text === null ? null : (JSON.parse(text) as Row));
const keyOf = (row: Row, key: readonly string[]): string => JSON.stringify(key.map((column) => row[column]));

interface Columns {
  readonly all: readonly string[];
  readonly key: readonly string[];
}

async function columnsOf(store: Store): Promise<ReadonlyMap<Table, Columns>> {
  const found = new Map<Table, Columns>();
  for (const { name, columns } of await store.reader.introspection.getTables())
    found.set(name as Table, { all: columns.map((column) => column.name), key: await keyColumns(store, name) });
  found.delete('schema_migrations');
  return found;
}

async function keyColumns(store: Store, table: string): Promise<string[]> {
  const asked =
    store.kind === 'sqlite'
      ? sql<{ name: string }>`select name from pragma_table_info(${table}) where pk > 0 order by pk`
      : sql<{ name: string }>`select a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
          where i.indrelid = to_regclass(${table}) and i.indisprimary order by array_position(i.indkey::int2[], a.attnum)`;
  return (await asked.execute(store.reader)).rows.map(({ name }) => name);
}

const EVENTS = [
  ['insert', 'null', 'new'],
  ['update', 'old', 'new'],
  ['delete', 'old', 'null'],
] as const;

function sqliteTriggers(tables: ReadonlyMap<Table, Columns>): string[] {
  const json = (row: string, { all }: Columns) =>
    row === 'null' ? 'null' : `json_object(${all.map((column) => `'${column}', ${row}."${column}"`).join(', ')})`;
  const triggers = [...tables].flatMap(([table, columns]) =>
    EVENTS.map(
      ([event, old, made]) =>
        `create trigger fuzz_${table}_${event} after ${event} on "${table}" begin
           insert into ${LEDGER} (name, old, new) values ('${table}', ${json(old, columns)}, ${json(made, columns)}); end`,
    ),
  );
  return [`create table ${LEDGER} (n integer primary key autoincrement, name text, old text, new text)`, ...triggers];
}

function postgresTriggers(tables: ReadonlyMap<Table, Columns>): string[] {
  const body = `begin
    insert into ${LEDGER} (name, old, new) values (tg_table_name,
      case when tg_op = 'INSERT' then null else to_jsonb(old)::text end, case when tg_op = 'DELETE' then null else to_jsonb(new)::text end);
    return null; end`;
  return [
    `create table ${LEDGER} (n bigserial primary key, name text, old text, new text)`,
    `create function fuzz_capture() returns trigger language plpgsql as $$ ${body} $$`,
    ...[...tables.keys()].map(
      (table) => `create trigger fuzz_${table} after insert or update or delete on "${table}" for each row execute function fuzz_capture()`,
    ),
  ];
}
