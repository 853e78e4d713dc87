import type { Migration } from '../../storage/migrate.ts';
import { MIGRATIONS } from '../../storage/migrations/index.ts';
import { type DescribedTable, parseTables } from '../../storage/schema-text.ts';

/** Returns the text of `src/storage/schema-rows.ts`, which contains a row type for each table in the migrations and a list of all tables. */
export function rowTypes(migrations: readonly Migration[] = MIGRATIONS): string {
  const described = migrations.flatMap((migration) => (migration.tables === undefined ? [] : parseTables(migration.tables)));
  const tables = described.filter(({ isAltered }) => !isAltered).map((table) => afterAll(table, described));
  return `// Written by \`npm run schema\` from the migrations. Do not edit.
import type { EpochMs, JsonText } from './rows.ts';

${tables.map(rowType).join('\n\n')}

/** Every table of the one store. */
export interface Database {
${tables.map(({ name }) => `  ${name}: ${rowName(name)};`).join('\n')}
}
`;
}

/** Returns the table as it is after all migrations. */
function afterAll(table: DescribedTable, described: readonly DescribedTable[]): DescribedTable {
  let { columns } = table;
  for (const change of described.filter(({ isAltered, name }) => isAltered && name === table.name)) {
    columns = [...columns, ...change.columns].filter(({ name }) => !change.dropped.includes(name));
  }
  return { ...table, columns };
}

function rowType({ name, comment, columns }: DescribedTable): string {
  const lines = columns.flatMap((column) => [
    ...(column.comment === undefined ? [] : [`  /** ${column.comment} */`]),
    `  ${column.name}: ${column.rowType}${column.isNullable ? ' | null' : ''};`,
  ]);
  return [...(comment === undefined ? [] : [`/** ${comment} */`]), `export interface ${rowName(name)} {`, ...lines, '}'].join('\n');
}

/** Rows of `workflow_dependencies` have the type `WorkflowDependencyRow`. */
function rowName(table: string): string {
  const singular = table.replace(/ies$/, 'y').replace(/s$/, '');
  return `${singular.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Row`;
}
